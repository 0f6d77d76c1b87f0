"""An experiment as files: tables in Markdown, and one page of tables and figures."""
