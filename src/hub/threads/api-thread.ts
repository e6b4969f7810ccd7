/** The API thread: the embedded home. SQLite blocks its thread while it writes, so nobody else lives in it. */
import { stat } from 'node:fs/promises'
import { Registry } from '@prometheus-io/client'
import { listenHttps } from '../../apiserver/https-listener.ts'
import { prefixOf } from '../../apiserver/objects.ts'
import { Secret } from '../../core/secret.ts'
import { nextTurn, systemClock } from '../../core/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { prometheusMetrics } from '../../engine/prometheus.ts'
import { Secret as SecretKind } from '../../kinds/builtin/core.ts'
import { runCompactor } from '../../store/compactor.ts'
import { createMeasuredStore } from '../../store/measured-store.ts'
import { createSealedStore } from '../../store/sealed-store.ts'
import { createSqliteStore } from '../../store/sqlite-store.ts'
import { composeApi } from '../compose-api.ts'
import { createLogger } from '../logger.ts'
import { declareDatabaseSize, measureApi } from '../metrics/thread-metrics.ts'
import { serveThread } from './serve-thread.ts'

const SECRETS = prefixOf(SecretKind)

await serveThread<'api'>(async (init) => {
  const log = createLogger(init.logLevel, { thread: 'api' })
  const clock = systemClock
  const registry = new Registry()
  const measuring = { clock, metrics: prometheusMetrics(registry) }
  const tellSize = declareDatabaseSize(measuring.metrics)
  const [newest, ...older] = init.sealingKeys.map(({ id, key }) => ({ id, key: new Secret(key) }))
  const store = createSealedStore({
    store: createMeasuredStore(createSqliteStore({ path: init.database, defer: nextTurn }), measuring),
    prefixes: [SECRETS],
    keys: [newest!, ...older],
    ids: systemIds,
  })
  // A key that is missing is said now, by name, and not by the first request that needs it.
  await store.list({ prefix: SECRETS })
  const closing = new AbortController()
  const compacting = runCompactor({ store, clock, log }, closing.signal)
  const api = composeApi({ store, clock, ids: systemIds, log, tokenKey: init.tokenKey })
  const listener = await listenHttps({
    ...init.listen,
    handle: measureApi(api.handle, measuring),
    clock,
    log,
    cert: init.server.certificate,
    key: init.server.privateKey,
    clientCa: init.clientCa,
  })
  return {
    ready: { port: listener.port },
    metrics: async () => {
      tellSize((await bytesOf(init.database)) + (await bytesOf(`${init.database}-wal`)))
      return await registry.metrics()
    },
    close: async () => {
      await listener.close()
      await api.close()
      closing.abort()
      await compacting
      await store.close()
    },
  }
})

async function bytesOf(file: string): Promise<number> {
  return await stat(file).then(
    ({ size }) => size,
    () => 0, // there is no write-ahead log yet
  )
}
