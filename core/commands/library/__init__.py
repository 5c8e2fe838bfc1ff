"""`knowledge library`: documents come in (`ingest`), are kept (`documents`), and are used (`use`)."""
