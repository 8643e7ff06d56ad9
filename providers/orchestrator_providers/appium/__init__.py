"""Apps and mobile browsers by Appium."""
