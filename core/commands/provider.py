"""The provider that the settings name, made ready for calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from core.base.result import Ok, Result
from core.commands.workspace import Workspace

if TYPE_CHECKING:
    from core.base.answer import Answer, Generate
    from core.llm.credentials import KeyFinder
    from core.llm.wire import ModelSettings


def connect_or_refuse(workspace: Workspace, provider: str, model: str, cancelled: Callable[[], bool]) -> Generate:
    """The configured model. One that cannot be reached at all is a callable whose every answer is that error, so that
    each conversation ends `harvest-failed` with the reason."""
    connected = connect_provider(workspace, provider, model, cancelled)
    if isinstance(connected, Ok):
        return connected.value
    error = connected

    def refuse(prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        return error

    return refuse


def connect_provider(
    workspace: Workspace, provider: str, model: str, cancelled: Callable[[], bool] = lambda: False
) -> Result[Generate]:
    """Ready the provider for calls; nothing is sent yet. Err for missing credentials or settings."""
    from core.llm.generate import connect

    return connect(_settings(workspace, provider, model), credentials=_keys(workspace), cancelled=cancelled)


def window_tokens(workspace: Workspace, provider: str, model: str) -> int:
    """The model's window in tokens: as the settings say, else as its server tells, 0 where nobody does."""
    config = workspace.config
    if config.model_context_tokens or provider in ("offline", "command"):
        return config.model_context_tokens
    from core.llm.window import window_of

    return window_of(_settings(workspace, provider, model), _keys(workspace))


def _keys(workspace: Workspace) -> KeyFinder:
    from core.llm.credentials import keys_from

    return keys_from(workspace.loaded.file.with_name("credentials.toml"), workspace.environment)


def _settings(workspace: Workspace, provider: str, model: str) -> ModelSettings:
    from core.llm.wire import ModelSettings

    config = workspace.config
    return ModelSettings(
        provider=provider,
        model=model or (config.model if provider == config.provider else ""),
        base_url=config.base_url if provider == config.provider else "",
        command=config.command,
        timeout_seconds=config.request_timeout_seconds,
        max_answer_bytes=config.max_answer_bytes,
        max_output_tokens=config.max_output_tokens,
    )
