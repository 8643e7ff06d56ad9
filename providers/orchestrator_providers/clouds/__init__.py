"""Device clouds: browsers, devices and apps, over their WebDriver hubs and REST APIs."""
