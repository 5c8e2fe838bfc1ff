"""A window's parts, made with Dear PyGui: what they look like, how they are laid out, what they hear. Nothing of this
program is in it: it could carry another one."""
