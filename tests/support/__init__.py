"""What tests share: servers, stores, naive implementations, planted defects."""
