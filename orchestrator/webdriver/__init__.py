"""The remote end: WebDriver commands, BiDi, CDP, capabilities and errors."""
