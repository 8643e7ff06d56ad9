"""One small shop, as a web page and as an app for each platform: the same code, in the clothes of each."""

from orchestrator.demo.shop.bundle import Platform as Platform
from orchestrator.demo.shop.bundle import bundle as bundle
from orchestrator.demo.shop.bundle import web as web
