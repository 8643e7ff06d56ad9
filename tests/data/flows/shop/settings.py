"""Settings of the shop, as the guide of django-oscar has them: guests may order, and it speaks twenty languages."""

import os
from pathlib import Path

import oscar
from oscar.defaults import *  # noqa: F403

FOLDER = Path(os.environ["SHOP_FOLDER"])

DEBUG = True
SECRET_KEY = "of a shop in a test"
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = [*oscar.INSTALLED_APPS, "sorl.thumbnail"]
SITE_ID = 1
ROOT_URLCONF = "urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "shop.sqlite3", "ATOMIC_REQUESTS": True}
}
HAYSTACK_CONNECTIONS = {
    "default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": str(FOLDER / "index")}
}
HAYSTACK_SIGNAL_PROCESSOR = "haystack.signals.RealtimeSignalProcessor"
AUTHENTICATION_BACKENDS = (
    "oscar.apps.customer.auth_backends.EmailBackend",
    "django.contrib.auth.backends.ModelBackend",
)
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ]
        },
    }
]
STATIC_URL = "/static/"
MEDIA_URL = "/media/"
MEDIA_ROOT = FOLDER / "media"
LANGUAGE_CODE = "en-gb"
LANGUAGES = [
    (code, code)
    for code in (
        *("ar", "ca", "cs", "da", "de", "en-gb", "el", "es", "fi", "fr"),
        *("it", "ko", "nl", "pl", "pt", "pt-br", "ro", "ru", "sk", "uk"),
    )
]
TIME_ZONE = "UTC"
USE_TZ = True
OSCAR_SHOP_NAME = "Book shop"
OSCAR_DEFAULT_CURRENCY = "GBP"
OSCAR_ALLOW_ANON_CHECKOUT = True
