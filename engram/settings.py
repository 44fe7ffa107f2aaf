"""Settings, all from the environment. Nothing here knows the domain.

`ENGRAM_ENV` is `local` (default: one machine, loopback only, secrets made and kept in
`ENGRAM_HOME`) or `production` (nothing is guessed: a missing secret stops the process).
"""

import json
import os
import re
import secrets
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from engram.embedded import redis_client_url

BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = os.environ.get("ENGRAM_ENV", "local")
if ENVIRONMENT not in {"local", "production"}:
    raise ImproperlyConfigured(f"ENGRAM_ENV must be local or production, not {ENVIRONMENT!r}")
IS_PRODUCTION = ENVIRONMENT == "production"
DEBUG = os.environ.get("ENGRAM_DEBUG") == "1" and not IS_PRODUCTION
ENGRAM_HOME = Path(os.environ.get("ENGRAM_HOME", BASE_DIR / ".engram")).expanduser().resolve()

_WHOLE = re.compile(r"[0-9]{1,12}")
_DECIMAL = re.compile(r"[0-9]{1,4}(\.[0-9]{1,6})?")


def _whole(variable: str, default: int, highest: int, lowest: int = 0) -> int:
    """Return the whole number that a variable holds."""
    value = os.environ.get(variable) or str(default)
    if not (_WHOLE.fullmatch(value) and lowest <= int(value) <= highest):
        raise ImproperlyConfigured(
            f"{variable} must be a whole number from {lowest} to {highest}, not {value!r}"
        )
    return int(value)


def _seconds(variable: str, default: int) -> float:
    """Return the seconds that a variable holds: more than none, an hour at most."""
    value = os.environ.get(variable) or str(default)
    if not (_DECIMAL.fullmatch(value) and 0 < float(value) <= 3600):
        raise ImproperlyConfigured(f"{variable} must be seconds up to 3600, not {value!r}")
    return float(value)


ENGRAM_PORT = _whole("ENGRAM_PORT", 8000, highest=65535)


def _require(name: str, local_default: str) -> str:
    """Return the variable; outside production fall back, in production refuse to start."""
    value = os.environ.get(name, "")
    if value:
        return value
    if IS_PRODUCTION:
        raise ImproperlyConfigured(f"{name} must be set when ENGRAM_ENV=production")
    return local_default


def _local_secret_key() -> str:
    """Return the home's random key, created if missing and readable by its owner only."""
    path = ENGRAM_HOME / "secret_key"
    ENGRAM_HOME.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        key = secrets.token_urlsafe(50)
        file.write(key)
    return key


SECRET_KEY = _require("ENGRAM_SECRET_KEY", "") or _local_secret_key()
_LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]", os.environ.get("ENGRAM_HOST", "localhost")]
ALLOWED_HOSTS = _require("ENGRAM_ALLOWED_HOSTS", ",".join(_LOCAL_HOSTS)).split(",")
CSRF_TRUSTED_ORIGINS = [o for o in os.environ.get("ENGRAM_TRUSTED_ORIGINS", "").split(",") if o]


def _is_on(variable: str) -> bool:
    """Return what a variable says that is 1 where it is not set; a mistyped one is neither."""
    value = os.environ.get(variable) or "1"
    if value not in {"0", "1"}:
        raise ImproperlyConfigured(f"{variable} must be 0 or 1, not {value!r}")
    return value == "1"


def _names(variable: str) -> list[str]:
    """Return what a variable lists, separated by commas."""
    named = [name.strip() for name in os.environ.get(variable, "").split(",")]
    return [name for name in named if name]


def _networks(variable: str) -> list[str]:
    """Return the addresses and networks that a variable lists; a mistyped one is none."""
    networks = _names(variable)
    for name in networks:
        try:
            ip_network(name)
        except ValueError as error:
            raise ImproperlyConfigured(
                f"{variable} holds {name!r}, which is no address and no network "
                f"({error}): write for example 127.0.0.1,10.0.0.0/8"
            ) from None
    return networks


# From whom X-Forwarded-For and X-Forwarded-Proto are believed (engram/kernel/proxies.py sets the
# scheme and REMOTE_ADDR, and drops the headers: no SECURE_PROXY_SSL_HEADER).
ENGRAM_TRUSTED_PROXIES = _networks("ENGRAM_TRUSTED_PROXIES")

# The networks that are not public, and that webhooks may be sent to nevertheless.
ENGRAM_WEBHOOK_NETWORKS = _networks("ENGRAM_WEBHOOK_NETWORKS")


def _public_url() -> str:
    """Return the address of this installation in links that it sends, without a closing slash."""
    host = next((host for host in ALLOWED_HOSTS if not host.startswith((".", "*"))), "localhost")
    default = f"https://{host}" if IS_PRODUCTION else f"http://127.0.0.1:{ENGRAM_PORT}"
    url = os.environ.get("ENGRAM_PUBLIC_URL") or default
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        raise ImproperlyConfigured(
            f"ENGRAM_PUBLIC_URL holds {url!r}: write for example https://engram.example.com"
        )
    return url.rstrip("/")


ENGRAM_PUBLIC_URL = _public_url()

# The mail server that digests are sent by; without one none are mailed.
EMAIL_HOST = os.environ.get("ENGRAM_EMAIL_HOST", "")
ENGRAM_SENDS_MAIL = bool(EMAIL_HOST)
# Whether webhooks and mails are sent: 0 for a restored copy, which would send what waited in it.
ENGRAM_OUTGOING = _is_on("ENGRAM_OUTGOING")
_BACKEND = "smtp" if ENGRAM_SENDS_MAIL else "dummy"
EMAIL_BACKEND = f"django.core.mail.backends.{_BACKEND}.EmailBackend"
EMAIL_PORT = _whole("ENGRAM_EMAIL_PORT", 587, highest=65535)
EMAIL_HOST_USER = os.environ.get("ENGRAM_EMAIL_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("ENGRAM_EMAIL_PASSWORD", "")
_EMAIL_SECURITY = os.environ.get("ENGRAM_EMAIL_SECURITY") or "starttls"
if _EMAIL_SECURITY not in {"starttls", "tls", "none"}:
    raise ImproperlyConfigured(
        f"ENGRAM_EMAIL_SECURITY must be starttls, tls or none, not {_EMAIL_SECURITY!r}"
    )
EMAIL_USE_TLS, EMAIL_USE_SSL = _EMAIL_SECURITY == "starttls", _EMAIL_SECURITY == "tls"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = os.environ.get("ENGRAM_EMAIL_FROM") or (
    f"engram@{urlsplit(ENGRAM_PUBLIC_URL).hostname}"
)

# The database and the broker. `manage.py` starts embedded ones and exports their URLs when
# these are unset; the local defaults only let commands that need neither import settings.
DATABASE_URL = _require("DATABASE_URL", "postgres:///engram")
BROKER_URL = _require("BROKER_URL", "redis://127.0.0.1:6379/0")
POOL_MAX_SIZE = _whole("ENGRAM_POOL_SIZE", 10, lowest=1, highest=1000)
DATABASES = {
    "default": dj_database_url.parse(DATABASE_URL, conn_max_age=0, conn_health_checks=True)
    | {"TEST": {"NAME": os.environ.get("ENGRAM_TEST_DATABASE", "test_engram")}}
}
DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
    "min_size": 1,
    "max_size": POOL_MAX_SIZE,
    "timeout": 5,
}
# Whether the statements of the hot paths are prepared; 0 for a connection pooler that does not
# support prepared statements.
PREPARES_STATEMENTS = _is_on("ENGRAM_PREPARED_STATEMENTS")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# kombu names a unix socket redis+socket://, redis-py and channels name it unix://.
REDIS_URL = os.environ.get("REDIS_URL") or redis_client_url(BROKER_URL)
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            # A quiet websocket waits five seconds for the next event, which redis-py's own default
            # would take for a dead server.
            "hosts": [{"address": REDIS_URL, "socket_timeout": 15}],
            "prefix": "engram",
            "expiry": 60,
            "capacity": 1000,
        },
    }
}

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",  # the site is ours, see engram/kernel/admin_site.py
    "engram.kernel.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "axes",
    "engram.kernel",
    "memories",
    "conflicts",
    "predictor",
    "engram.console",
]
MIDDLEWARE = [
    "engram.kernel.measuring.CountingMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "engram.console.static_serving.StaticFilesMiddleware",
    "engram.kernel.middleware.RequestIdMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "engram.kernel.middleware.ContentSecurityPolicyMiddleware",
    "engram.kernel.middleware.StaffWorkspaceMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "engram.urls"
ASGI_APPLICATION = "engram.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "engram.console.navigation.frame",
            ]
        },
    }
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
# Who fails to sign in too often waits (engram/kernel/sign_in.py). The database counts, so that all
# web processes know; the address is REMOTE_ADDR.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_HANDLER = "engram.kernel.sign_in.Handler"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "engram.kernel.sign_in.answer_lockout"
AXES_USERNAME_CALLABLE = "engram.kernel.sign_in.name_of"
AXES_CLIENT_IP_CALLABLE = "engram.kernel.sign_in.address_of"
AXES_DISABLE_ACCESS_LOG = True  # who signed in when is kept nowhere
AXES_ENABLE_ADMIN = False  # ours: engram/kernel/sign_in_admin.py
AXES_VERBOSE = False
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "console:dashboard"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
FORMAT_MODULE_PATH = "engram.kernel.dates"

STATIC_URL = "static/"
STATIC_ROOT = ENGRAM_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

# No body is larger, on whatever route; `engram/kernel/body_limit.py` says how large each may be.
DATA_UPLOAD_MAX_MEMORY_SIZE = 24 * 1024 * 1024

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "engram.kernel.authentication.KeyAuthentication",
        "engram.kernel.authentication.StaffSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["engram.kernel.authentication.HasRole"],
    "DEFAULT_THROTTLE_CLASSES": ["engram.kernel.throttling.PerCaller"],
    "DEFAULT_PARSER_CLASSES": ["engram.kernel.parsing.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "engram.kernel.pagination.NewestFirst",
    "DEFAULT_SCHEMA_CLASS": "engram.kernel.openapi.ProblemAutoSchema",
    "EXCEPTION_HANDLER": "engram.kernel.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "STRICT_JSON": True,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Engram",
    "DESCRIPTION": "The memory service for AI agents that stays true.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "engram.kernel.openapi.close_bodies",
        "engram.kernel.openapi.name_causes",
        "engram.console.openapi.describe_fields",
        "engram.console.api_groups.introduce",
        "engram.console.api_examples.add_examples",
    ],
    "ENUM_NAME_OVERRIDES": {
        "MemoryKindEnum": "memories.models.Kind",
        "ProvenanceEnum": "engram.kernel.models.Provenance",
        "MemoryStateEnum": "memories.models.State",
        "SessionStateEnum": "memories.models.session.SessionState",
        "JudgeKindEnum": "predictor.models.JudgeKind",
        "JudgeStatusEnum": "predictor.models.JudgeStatus",
        "ConflictKindEnum": "conflicts.models.card.ConflictKind",
        "ConflictStatusEnum": "conflicts.models.card.ConflictStatus",
        "DetectorEnum": "conflicts.services.detection.quality.DETECTORS",
        "HealthEnum": "engram.console.diagnostics.domain.STATUSES",
        "SeverityEnum": "conflicts.models.card.Severity",
        "UrgencyEnum": "engram.console.inbox.source.SEVERITIES",
        "RelationEnum": "memories.models.gate.Relation",
        "JudgedRelationEnum": "conflicts.models.JudgedRelation",
        "SuggestionStatusEnum": "memories.models.gate.SuggestionStatus",
        "SuggestedByEnum": "memories.serializers.gate.SUGGESTED_BY",
        "AnswerSourceEnum": "memories.core.answer_sources.SOURCES",
        "SourceEnum": "memories.models.session.CandidateSource",
        "GateOutcomeEnum": "memories.services.gate.replay.GATED",
    },
}

# Embeddings: the local MiniLM unless another provider is named.
ENGRAM_EMBEDDING = {
    "provider": os.environ.get("EMBEDDING_PROVIDER", "local"),
    "model": os.environ.get("EMBEDDING_MODEL", "all-MiniLM-L6-v2"),
    "base_url": os.environ.get("OPENAI_BASE_URL") or None,
    "api_key": os.environ.get("OPENAI_API_KEY") or None,
    "timeout_seconds": _seconds("EMBEDDING_TIMEOUT_SECONDS", 10),
    "threads": _whole("EMBEDDING_THREADS", 0, highest=256) or None,  # None: one, more in commands
}

# Language models: any endpoint that speaks OpenAI's chat protocol, used only if one is configured.
# Prices are US dollars per million tokens, in and out; what is not listed counts by the default.
_PRICES = {
    "gpt-4o-mini": (0.15, 0.60),
    "gpt-4o": (2.50, 10.00),
    "gpt-4.1-nano": (0.10, 0.40),
    "gpt-4.1-mini": (0.40, 1.60),
    "gpt-4.1": (2.00, 8.00),
}


def _own_prices() -> dict[str, tuple[float, float]]:
    """Return the prices of `ENGRAM_MODEL_PRICES`: {"model": [in, out]}."""
    try:
        configured = json.loads(os.environ.get("ENGRAM_MODEL_PRICES") or "{}")
        prices = {str(name): (float(paid[0]), float(paid[1])) for name, paid in configured.items()}
    except (ValueError, TypeError, AttributeError, LookupError):
        prices = {"": (-1.0, -1.0)}
    if any(not 0 <= price < 1e6 for paid in prices.values() for price in paid):
        raise ImproperlyConfigured(
            'ENGRAM_MODEL_PRICES must be JSON such as {"my-model": [0.5, 1.5]} (US dollars per '
            "million tokens, in and out)"
        )
    return prices


ENGRAM_LLM: dict[str, Any] = {
    "model": os.environ.get("ENGRAM_MODEL", "gpt-4o-mini"),
    # Further ones that a workspace may choose.
    "models": tuple(_names("ENGRAM_MODELS")),
    "base_url": os.environ.get("OPENAI_BASE_URL") or None,
    "api_key": os.environ.get("OPENAI_API_KEY") or None,
    "timeout_seconds": _seconds("ENGRAM_MODEL_TIMEOUT_SECONDS", 30),
    "total_seconds": _seconds("ENGRAM_MODEL_TOTAL_SECONDS", 90),
    "prices": _PRICES | _own_prices(),
    "default_price": (2.50, 10.00),
}

# Who sends this as a bearer token may read /metrics.
ENGRAM_METRICS_TOKEN = os.environ.get("ENGRAM_METRICS_TOKEN", "")

# The seams: what upper apps plug into lower ones, by name.
ENGRAM_RECALL_ANNOTATORS = ["conflicts.services.cards.disputes.annotate"]
ENGRAM_DISPUTED_PAIRS = "conflicts.services.cards.disputes.in_one_conflict"
ENGRAM_CARDED_PAIRS = "conflicts.services.cards.disputes.have_card"
ENGRAM_SESSION_BRIEFERS = ["conflicts.services.verdicts.decided_since.decided_since"]
# Which names a setting of a workspace may list.
ENGRAM_KNOWN_NAMES = {"muted_rules": "conflicts.core.muting.MUTEABLE"}
# The task that does a kind of job; see `engram/kernel/job_queue.py`.
ENGRAM_JOB_TASKS = {
    "extraction": "memories.extract",
    "memory_change": "console.change_memories",
}
# What rates how harmful it is that a note no longer carries a memory.
ENGRAM_DRIFT_RATER = "conflicts.services.drift_severity.rate_drift"
# The learned ranker at session start; empty: the baseline alone.
ENGRAM_SESSION_RANKER = "predictor.services.serving.rank_session.rank_session"

CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "socket_connect_timeout": 1,
    "socket_timeout": 3,
    # A caller never waits for a dead broker: the sweep finds what was not woken.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.05,
    "interval_max": 0.05,
}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "engram"
# `models`: what waits for a language model; one that stalls holds up nothing else. `bulk`: what
# takes many seconds where much was written at once; a flood of it holds up no detection or drift.
# `outgoing`: what waits for other people's servers, which may stall.
_TASKS_OF_QUEUES: dict[str, list[str]] = {
    "engram": [],
    "bulk": [
        "console.change_memories",
        "kernel.delete_workspace",
        "memories.embed_notes",
        "memories.embed_pending",
        "memories.embed_workspace",
        "memories.extract",
        "memories.apply_retention",
        "memories.janitor_run",
        "memories.read_entities",
        "predictor.train_workspace",
    ],
    "models": [
        "conflicts.narrate_workspace",
        "memories.extract_by_model",
        "predictor.judge_workspace_by_model",
    ],
    "outgoing": [
        "console.send_mails",
        "console.send_webhooks",
    ],
}
CELERY_TASK_QUEUES: dict[str, dict[str, Any]] = {queue: {} for queue in _TASKS_OF_QUEUES}
CELERY_TASK_ROUTES = {
    task: {"queue": queue} for queue, tasks in _TASKS_OF_QUEUES.items() for task in tasks
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_TIME_LIMIT = 600
_SWEEPS = {
    "conflicts.sweep_detection": 10.0,
    "memories.count_recalls": 10.0,
    "memories.embed_pending": 60.0,
    "memories.read_entities": 30.0,
    "memories.sweep_second_looks": 60.0,
    "memories.sweep_notes": 60.0,
    "memories.janitor": 3600.0,
    "memories.close_idle_sessions": 3600.0,
    "memories.sweep_retention": 3600.0,
    "conflicts.wake_snoozed": 60.0,
    "console.sweep_webhooks": 10.0,
    "console.drop_old_deliveries": 3600.0,
    "console.sweep_digests": 30.0,
    "console.drop_old_digests": 3600.0,
    "kernel.sweep_jobs": 10.0,
    "kernel.sweep_deletions": 10.0,
    "kernel.drop_old_jobs": 3600.0,
    "kernel.drop_old_answers": 3600.0,
    "kernel.drop_old_latencies": 3600.0,
    "predictor.sweep_training": 60.0,
    "predictor.sweep_judging": 10.0,
}
# A sweep that no worker took in time is left out: the next one does the same.
CELERY_BEAT_SCHEDULE = {
    task: {"task": task, "schedule": seconds, "options": {"expires": seconds}}
    for task, seconds in _SWEEPS.items()
}
CELERY_BEAT_SCHEDULE_FILENAME = str(ENGRAM_HOME / "celerybeat-schedule")

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
if IS_PRODUCTION:
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = _is_on("ENGRAM_SSL_REDIRECT")
    SECURE_HSTS_SECONDS = _whole("ENGRAM_HSTS_SECONDS", 31_536_000, highest=2**31)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
    SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$", "^metrics$"]

_LOG_LEVEL = os.environ.get("ENGRAM_LOG_LEVEL") or "INFO"
if _LOG_LEVEL not in {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}:
    raise ImproperlyConfigured(
        f"ENGRAM_LOG_LEVEL must be DEBUG, INFO, WARNING, ERROR or CRITICAL, not {_LOG_LEVEL!r}"
    )
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)-7s %(name)s %(message)s"},
        "bare": {"format": "%(message)s"},
    },
    "filters": {"refusals": {"()": "engram.kernel.log_filters.WithoutTracesOfRefusals"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line"},
        "events": {"class": "logging.StreamHandler", "formatter": "bare"},
    },
    "root": {"handlers": ["stderr"], "level": _LOG_LEVEL},
    "loggers": {
        # JSON lines, made by engram/kernel/telemetry.py.
        "engram.events": {"handlers": ["events"], "propagate": False},
        "django.request": {"filters": ["refusals"]},
    }
    | {
        name: {"level": "WARNING"}
        for name in (
            "axes",
            "httpx2",
            "mcp",
            "openai",
            "celery.app.trace",
            "celery.worker.request",  # a sweep that is left out is no loss
            "celery.worker.strategy",
            "celery.beat",
        )
    },
}

# The look is settled in static/console/console.css; the admin's theme takes the same hues.
UNFOLD = {
    "SITE_TITLE": "Engram",
    "SITE_HEADER": "Engram",
    "SITE_SUBHEADER": "Memory that stays true",
    "SITE_URL": "/",
    "SITE_ICON": "engram.console.navigation.site_icon",
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": "engram.console.navigation.site_icon",
        }
    ],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "6px",
    "STYLES": ["engram.console.navigation.admin_style"],
    "SCRIPTS": ["engram.console.navigation.admin_script", "engram.console.navigation.zone_script"],
    "COLORS": {
        "base": {
            "50": "oklch(97.7% 0.004 230)",
            "100": "oklch(95.5% 0.006 230)",
            "200": "oklch(91% 0.008 230)",
            "300": "oklch(85% 0.011 232)",
            "400": "oklch(73% 0.016 235)",
            "500": "oklch(53% 0.02 238)",
            "600": "oklch(45% 0.02 240)",
            "700": "oklch(36% 0.018 240)",
            "800": "oklch(28% 0.016 240)",
            "900": "oklch(22% 0.014 240)",
            "950": "oklch(17% 0.013 240)",
        },
        "primary": {
            "50": "oklch(97.5% 0.012 215)",
            "100": "oklch(95% 0.024 215)",
            "200": "oklch(90% 0.045 214)",
            "300": "oklch(83% 0.07 213)",
            "400": "oklch(75% 0.085 213)",
            "500": "oklch(67% 0.09 217)",
            "600": "oklch(46% 0.085 222)",
            "700": "oklch(40% 0.08 224)",
            "800": "oklch(35% 0.068 226)",
            "900": "oklch(31% 0.055 228)",
            "950": "oklch(23% 0.04 230)",
        },
    },
}
