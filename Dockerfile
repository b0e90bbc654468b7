# Builds Parley on the Node of the base image. The packages that bring a Node of their own (`optionalDependencies`) are left out.
FROM node:26-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci --workspace console --include-workspace-root=false --no-audit --no-fund
COPY clients/typescript/src clients/typescript/src
COPY console console
RUN node console/build.ts

FROM node:26-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund
COPY deploy/trim-packages.sh deploy/
RUN sh deploy/trim-packages.sh

FROM node:26-bookworm-slim
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=console /app/console/dist console/dist
COPY package.json LICENSE ./
COPY prisma/migrations prisma/migrations
COPY scripts scripts
COPY src src
RUN mkdir -p /data /var/cache/parley .cache && chown 1000:1000 /data /var/cache/parley .cache
ENV NODE_ENV=production MALLOC_ARENA_MAX=8 MALLOC_TRIM_THRESHOLD_=1048576 NODE_COMPILE_CACHE=/var/cache/parley HOST=0.0.0.0 PORT=4000 DATA_DIR=/data LOG_FORMAT=json
# The user `node` of the base image, by its number: Kubernetes can see that it is not root.
USER 1000:1000
# What a first start on a new volume copies.
RUN node src/start/prepare-database.ts
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "--max-old-space-size=2000", "src/main.js"]
