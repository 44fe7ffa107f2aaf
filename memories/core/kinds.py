"""List kinds whose members exclude each other in one place: databases, colours, seasons."""

from __future__ import annotations

# "Is written in Go" excludes "is written in Rust".
PRODUCT_KINDS = {
    "database": "postgres mysql mariadb sqlite oracle sqlserver mssql mongodb dynamodb cassandra"
    " redis memcached valkey clickhouse bigquery snowflake redshift cockroachdb spanner couchdb"
    " firestore duckdb neo4j elasticsearch opensearch solr timescaledb influxdb scylladb",
    "language": "python java golang go rust ruby php javascript typescript kotlin scala swift c#"
    " c++ elixir erlang haskell perl julia lua dart cobol fortran ocaml clojure zig",
    "tongue": "english german french spanish italian portuguese dutch swedish norwegian danish"
    " finnish polish czech russian japanese chinese mandarin korean arabic turkish greek hindi",
    "package manager": "npm yarn pnpm bun pip poetry pipenv conda uv pdm",
    "build tool": "maven gradle bazel sbt make cmake webpack vite rollup esbuild parcel turbopack",
    "framework": "react vue angular svelte ember solidjs preact django flask fastapi rails laravel"
    " spring springboot express nestjs nextjs nuxt remix phoenix",
    "runtime": "nodejs deno bun cpython pypy",
    "broker": "kafka rabbitmq sqs nats pulsar pubsub activemq kinesis zeromq redis redpanda",
    "cloud": "aws gcp azure hetzner digitalocean ovh linode onprem heroku vercel netlify fly.io"
    " cloudflare scaleway",
    "ci": "jenkins circleci travis buildkite teamcity githubactions gitlabci bamboo drone",
    "forge": "github gitlab bitbucket gitea forgejo",
    "version control": "git mercurial svn subversion perforce",
    "chat": "slack teams discord mattermost zulip",
    "tracker": "jira linear asana trello clickup shortcut youtrack",
    "format": "json xml yaml toml csv parquet avro protobuf msgpack markdown html pdf orc",
    "api style": "rest graphql grpc soap trpc",
    "protocol": "http https websocket websockets sse mqtt amqp polling ftp sftp",
    "transport": "tcp udp quic",
    "sign-on": "oauth oauth2 saml ldap kerberos jwt sessioncookie basic-auth oidc",
    "password hash": "argon2 argon2id bcrypt scrypt pbkdf2 sha256 md5",
    "second factor": "totp sms webauthn passkey yubikey",
    "license": "mit apache gpl bsd mpl agpl lgpl",
    "desktop system": "linux windows macos freebsd",
    "distribution": "ubuntu debian fedora alpine centos rhel arch bottlerocket",
    "phone system": "ios android",
    "merge style": "squash rebase mergecommit fast-forward",
    "indentation": "tabs spaces",
    "editor": "vim neovim emacs vscode intellij pycharm sublime",
    "shell": "bash zsh fish",
    "test tool": "pytest unittest jest vitest mocha jasmine",
    "browser test": "playwright cypress selenium puppeteer",
    "provisioning": "terraform pulumi cloudformation opentofu",
    "configuration tool": "ansible chef puppet saltstack",
    "containers": "docker podman containerd",
    "orchestrator": "kubernetes nomad ecs swarm",
    "chart tool": "helm kustomize",
    "monitoring": "datadog prometheus newrelic splunk dynatrace honeycomb",
    "payment": "stripe adyen braintree paypal klarna mollie",
    "mailer": "sendgrid mailgun ses postmark mailchimp",
    "crm": "salesforce hubspot pipedrive zoho",
    "object store": "s3 gcs r2 minio b2",
}
OTHER_KINDS = {
    "identifier": "uuid ulid integer sequential cuid snowflake-id slug autoincrement",
    "color": "red blue green yellow black white orange purple pink brown gray beige",
    "season": "spring summer autumn winter",
    "compass": "north south east west northeast northwest southeast southwest",
    "drink": "tea coffee water beer wine milk juice",
    "meal": "breakfast lunch dinner supper",
    "material": "oak pine steel aluminium aluminum plastic wood glass concrete brick copper leather"
    " cotton wool granite marble beech walnut",
    "level": "low medium high critical severe",
    "log level": "debug info warning error fatal trace",
    "size": "small medium large",
    "status": "draft review final accepted rejected deferred withdrawn superseded stagnant living"
    " approved provisional active inactive pending open closed resolved done blocked paused"
    " cancelled published archived deprecated retired",
    "environment": "production staging development sandbox preview qa",
    "day part": "morning afternoon evening noon midnight night",
    "order": "fifo lifo alphabetical chronological",
    "payment means": "card cash cheque transfer invoice paypal",
    "vehicle": "car bus train plane tram bicycle motorcycle ferry taxi",
    "diet": "vegan vegetarian omnivore pescatarian",
    "timezone": "utc cet est pst",
    "consistency": "eventual strong causal",
    "deployment style": "canary bluegreen rolling bigbang",
    "architecture": "monolith microservice serverless",
    "cpu": "arm arm64 x86 amd64 x86_64",
    "currency": "euro dollar pound franc yen",
}
PRODUCT_NAMES = frozenset(name for names in PRODUCT_KINDS.values() for name in names.split())
