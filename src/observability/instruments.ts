import { existsSync, readdirSync } from 'node:fs'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { version } from '../version.ts'

interface IndexTotals {
  vectors: number
  tombstones: number
  fileBytes: number
}

interface ReplicationTotals {
  lagMs: number | null
  lastSyncAt: number | null
  failures: number
}

interface JobTotals {
  ended: number
  seconds: number
  failed: number
}

/** What the gauges are read from at each scrape. */
export interface WatchedParts {
  /** How many chunks wait to be embedded. */
  countPending: () => Promise<number>
  index: { states(): Promise<IndexTotals[]> }
  /** `replication` is null without replication. */
  database: {
    replication(): ReplicationTotals | null
    freeBytes(): number | null
    refusedWrites(): Readonly<Record<string, number>>
  }
  /** Bytes of the database file and of its log; null where there are none. */
  databaseBytes: () => { file: number; log: number } | null
  /** Milliseconds since 1970; 0 if there was none. */
  lastBackupAt: () => Promise<number>
  /** What waits, fails or is late. */
  backlog: () => Promise<Backlog>
  changeWatch: { readonly count: number }
  /** The work in the background, by name. */
  jobs: () => [string, JobTotals][]
  /** Bytes of the recordings of each project. */
  bytesKept: () => Promise<{ project: string; bytes: number }[]>
  /** Why the service is not ready, or what is wrong although it is, in a sentence; null when nothing is. */
  problem: () => Promise<string | null>
}

type Backlog = Record<keyof typeof backlogGauges, number>

/** At most 100,000 of each are counted. */
const backlogGauges = {
  webhookEvents: ['callbook_webhook_events_waiting', 'Events that wait to be sent to webhooks.'],
  webhooksFailing: ['callbook_webhooks_failing', 'Webhooks whose last attempt failed.'],
  webhooksSwitchedOff: [
    'callbook_webhooks_switched_off',
    'Webhooks that were switched off because every attempt failed, or the endpoint said so.',
  ],
  unreadableEvents: [
    'callbook_unreadable_events',
    'Events of sources that could not be read in the last week.',
  ],
  analysesPaused: [
    'callbook_analyses_paused',
    'Projects whose calls wait because the analysis model cannot be used.',
  ],
  erasures: ['callbook_erasures_waiting', 'Deletions whose bytes are not erased yet.'],
  lateErasures: ['callbook_erasures_late', 'Those of them that are older than ERASE_WITHIN_MS.'],
} as const

/** Linux lists the files that this process has open here. */
const openFiles = '/proc/self/fd'

/** Prometheus metrics of prom-client, which takes 50 ms and 8 MB to load. */
export class Instruments {
  readonly #registry = new Registry()
  readonly embeddings = new Histogram({
    name: 'callbook_embedding_duration_seconds',
    help: 'Time of a call to the embedding provider.',
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30],
    registers: [this.#registry],
  })
  readonly embeddingFailures = new Counter({
    name: 'callbook_embedding_failures_total',
    help: 'Calls to the embedding provider that failed.',
    registers: [this.#registry],
  })
  readonly searches = new Histogram({
    name: 'callbook_search_duration_seconds',
    help: 'Time of a knowledge search, by the mode that it used.',
    labelNames: ['mode'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.#registry],
  })
  readonly searchCoverage = new Histogram({
    name: 'callbook_search_coverage',
    help: 'How much of its query the best passage of a knowledge search covers.',
    buckets: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
    registers: [this.#registry],
  })
  readonly lag = new Gauge({
    name: 'callbook_event_loop_lag_seconds',
    help: 'Longest delay of the event loop around requests since the last scrape.',
    registers: [this.#registry],
  })

  /** Always 1: its labels are what matters. https://www.robustperception.io/exposing-the-version-to-prometheus */
  readonly #build = new Gauge({
    name: 'callbook_build_info',
    help: 'The version of Callbook, in its label.',
    labelNames: ['version'],
    registers: [this.#registry],
  })

  readonly #readBacklog: () => Promise<void>

  constructor({
    countPending,
    index,
    database,
    databaseBytes,
    lastBackupAt,
    backlog,
    changeWatch,
    jobs,
    bytesKept,
    problem,
  }: WatchedParts) {
    this.#build.set({ version }, 1)
    this.#readBacklog = this.#watchBacklog(backlog)
    this.#watchProcess()
    this.#watchJobs(jobs)
    if (databaseBytes()) this.#watchDatabase(databaseBytes, lastBackupAt)
    const sum = (field: keyof IndexTotals) => async () =>
      (await index.states()).reduce((total, state) => total + state[field], 0)
    this.#gauge('callbook_pending_chunks', 'Chunks that wait to be embedded.', countPending)
    this.#gauge('callbook_index_vectors', 'Vectors in the indexes in memory.', sum('vectors'))
    this.#gauge(
      'callbook_index_tombstones',
      'Removed vectors still in the indexes in memory.',
      sum('tombstones'),
    )
    this.#gauge('callbook_index_file_bytes', 'Size of the files of the indexes in memory.', sum('fileBytes'))
    this.#gauge('callbook_waiting_readers', 'Readers that wait for changes.', () => changeWatch.count)
    this.#gauge('callbook_problem', '1 while /ready names a problem, else 0.', async () =>
      Number((await problem()) !== null),
    )
    if (database.freeBytes() !== null)
      this.#gauge(
        'callbook_disk_free_bytes',
        'Free space on the disk of DATA_DIR.',
        () => database.freeBytes() ?? 0,
      )
    new Gauge({
      name: 'callbook_recording_bytes',
      help: 'Bytes of the recordings that are kept.',
      labelNames: ['project'],
      registers: [this.#registry],
      async collect() {
        this.reset()
        for (const { project, bytes } of await bytesKept()) this.set({ project }, bytes)
      },
    })
    new Counter({
      name: 'callbook_writes_refused_total',
      help: 'Writes that the disk refused: it is full, takes no writes, or has damaged the database.',
      labelNames: ['reason'],
      registers: [this.#registry],
      collect() {
        this.reset()
        for (const [reason, count] of Object.entries(database.refusedWrites())) this.inc({ reason }, count)
      },
    })
    if (database.replication()) this.#watchReplication(() => database.replication())
  }

  /** The Prometheus text format, version 0.0.4. */
  async text(): Promise<string> {
    await this.#readBacklog()
    return await this.#registry.metrics()
  }

  /** One query for all of these gauges. */
  #watchBacklog(read: () => Promise<Backlog>): () => Promise<void> {
    const registers = [this.#registry]
    const gauges = Object.entries(backlogGauges).map(([key, [name, help]]) => ({
      // Of an object that is written here.
      key: key as keyof Backlog,
      gauge: new Gauge({ name, help, registers }),
    }))
    return async () => {
      const backlog = await read()
      for (const { key, gauge } of gauges) gauge.set(backlog[key])
    }
  }

  /** As https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics names them. */
  #watchProcess(): void {
    new Counter({
      name: 'process_cpu_seconds_total',
      help: 'Processor time of the process.',
      registers: [this.#registry],
      collect() {
        const { user, system } = process.cpuUsage()
        this.reset()
        this.inc((user + system) / 1e6)
      },
    })
    this.#gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss())
    if (existsSync(openFiles))
      this.#gauge(
        'process_open_fds',
        'Files and connections that are open.',
        () => readdirSync(openFiles).length,
      )
  }

  #watchJobs(read: WatchedParts['jobs']): void {
    const count = (name: string, help: string, field: keyof JobTotals) =>
      new Counter({
        name,
        help,
        labelNames: ['job'],
        registers: [this.#registry],
        collect() {
          this.reset()
          for (const [job, totals] of read()) this.inc({ job }, totals[field])
        },
      })
    count('callbook_job_runs_total', 'Runs of work in the background that ended.', 'ended')
    count('callbook_job_seconds_total', 'How long they took.', 'seconds')
    count('callbook_job_failures_total', 'How many of them failed. They are tried again.', 'failed')
  }

  #watchDatabase(bytes: WatchedParts['databaseBytes'], lastBackupAt: WatchedParts['lastBackupAt']): void {
    new Gauge({
      name: 'callbook_database_bytes',
      help: 'Size of the database file and of its write-ahead log.',
      labelNames: ['part'],
      registers: [this.#registry],
      collect() {
        for (const [part, size] of Object.entries(bytes() ?? {})) this.set({ part }, size)
      },
    })
    const name = 'callbook_last_backup_timestamp_seconds'
    this.#gauge(
      name,
      'When the newest backup was made; 0 for none.',
      async () => (await lastBackupAt()) / 1000,
    )
  }

  #watchReplication(read: () => ReplicationTotals | null): void {
    const seconds = (field: 'lagMs' | 'lastSyncAt') => () => (read()?.[field] ?? Number.NaN) / 1000
    const lag = 'callbook_replication_lag_seconds'
    const lastSync = 'callbook_replication_last_sync_timestamp_seconds'
    this.#gauge(lag, 'Time since the newest successful sync began.', seconds('lagMs'))
    this.#gauge(lastSync, 'When the newest successful sync began.', seconds('lastSyncAt'))
    new Counter({
      name: 'callbook_replication_sync_failures_total',
      help: 'Syncs with the primary that failed.',
      registers: [this.#registry],
      collect() {
        this.reset()
        this.inc(read()?.failures ?? 0)
      },
    })
  }

  #gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      async collect() {
        this.set(await read())
      },
    })
  }
}
