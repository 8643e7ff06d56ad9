"""What others test with: the contract of a provider, as tests for pytest. Nothing here needs pytest to be imported."""

from orchestrator.testing.contract import ProviderContract as ProviderContract
