# Callbook as an image: docker build -t callbook .

ARG BUN_VERSION=1.4.5

FROM oven/bun:${BUN_VERSION}-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
# Without postinstall, which needs the sources and forgives failures: what it builds is built below.
RUN bun install --frozen-lockfile --production --omit=peer --ignore-scripts
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
# Machine code for any CPU of the architecture: who builds an image knows not where it runs.
RUN ADDON_PORTABLE=1 bun scripts/build-addon.ts && test -f node_modules/hnswlib-node/build/Release/addon.node
# The page holds what it needs of these: a third of all packages' bytes.
RUN bun run build && rm -r node_modules/@mantine node_modules/@phosphor-icons node_modules/@rolldown \
  node_modules/@tabler node_modules/lightningcss* node_modules/rolldown node_modules/vite

# The same image as above, so that the addon meets the libraries it was linked with.
FROM oven/bun:${BUN_VERSION}-slim
RUN install -d -o bun -g bun -m 700 /data
WORKDIR /app
COPY --from=build /app ./
USER bun
ENV HOST=0.0.0.0 DATA_DIR=/data
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["bun", "-e", "process.exit((await fetch(`http://127.0.0.1:${process.env.PORT || 3000}/ready`)).ok ? 0 : 1)"]
# Not `bun start`: the service has to be the process that signals reach, and its page is built already.
CMD ["bun", "src/main.ts"]
