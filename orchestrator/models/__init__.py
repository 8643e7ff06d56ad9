"""Models of values: records, requests, results and policies, and the tables behind them."""
