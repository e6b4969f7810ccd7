/**
 * The API thread: the embedded home. SQLite blocks its thread while it writes, so no other part shares the thread.
 */
import { stat } from 'node:fs/promises'
import Registry from '@prometheus-io/client/lib/registry.js'
import { listenHttps } from '../../apiserver/http/https-listener.ts'
import type { UserTokens } from '../../apiserver/tokens/authenticate.ts'
import { createFileBlobs } from '../../blobs/file-blobs.ts'
import { parseStored, storePrefix, serializeObject } from '../../apiserver/storage/stored-object.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { Secret } from '../../core/secret.ts'
import { nextTurn, systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { prometheusMetrics } from '../../engine/prometheus.ts'
import { Secret as SecretKind } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Override } from '../../kinds/native/override.ts'
import { Release } from '../../kinds/native/release.ts'
import type { OidcSettings } from '../../client/oidc/oidc-settings.ts'
import { runCompactor } from '../../store/compactor.ts'
import { createMeasuredStore } from '../../store/measured-store.ts'
import { reseal } from '../../store/reseal.ts'
import { createSealedStore } from '../../store/sealed-store.ts'
import { createSqliteStore } from '../../store/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { composeApi } from '../compose/compose-api.ts'
import { createThreadLogger } from './thread-logger.ts'
import { declareDatabaseSize, measureApi } from '../metrics/thread-metrics.ts'
import { serveThread } from './serve-thread.ts'

/** Kinds whose values are sealed at rest: Secrets, and what may have Secrets, passwords and chart values in it. */
const SEALED = [SecretKind, Bundle, Override, Release].map((kind) => storePrefix(kind))
const SECRETS = storePrefix(SecretKind)

interface Resealing {
  readonly plain: Store
  readonly store: Store
  readonly newest: string
  readonly log: Logger
}

/** After a change of the sealing key; a failure leaves older values as they are, which their key still opens. */
async function resealAtStart({ plain, store, newest, log }: Resealing, signal: AbortSignal): Promise<void> {
  try {
    const resealed = await reseal(
      { plain, sealed: store, prefixes: SEALED, newest, rewrite: (value) => serializeObject(parseStored(value)) },
      signal,
    )
    if (resealed > 0) log.info({ resealed, key: newest }, 'values were sealed with the newest key')
  } catch (caught) {
    log.error({ err: toError(caught) }, 'values could not be sealed with the newest key')
  }
}

await serveThread<'api'>(async (init) => {
  const log = await createThreadLogger(init.logLevel, { thread: 'api' })
  const clock = systemClock
  const registry = new Registry()
  const measuring = { clock, metrics: prometheusMetrics(registry) }
  const tellSize = declareDatabaseSize(measuring.metrics)
  const [newest, ...older] = init.sealingKeys.map(({ id, key }) => ({ id, key: new Secret(key) }))
  const plain = createMeasuredStore(createSqliteStore({ path: init.database, defer: nextTurn }), measuring)
  const store = createSealedStore({
    store: plain,
    prefixes: SEALED,
    keys: [newest!, ...older],
    ids: systemIds,
  })
  // A key that is missing is said now, by name, and not by the first request that needs it.
  await store.list({ prefix: SECRETS })
  const closing = new AbortController()
  const compacting = runCompactor({ store, clock, log }, closing.signal)
  const resealing = resealAtStart({ plain, store, newest: newest!.id, log }, closing.signal)
  let { notReady } = init
  const api = composeApi({
    store,
    blobs: createFileBlobs({ folder: init.blobs, ids: systemIds }),
    clock,
    ids: systemIds,
    log,
    tokenKeys: init.tokenKeys,
    ...(init.oidc && { userTokens: await userTokensOf(init.oidc, log) }),
    rootCa: init.clientCa,
    dialects: init.dialects,
    notReady: () => notReady,
  })
  const listener = await listenHttps({
    ...init.listen,
    handle: measureApi(api.handle, measuring),
    authenticate: api.authenticate,
    clock,
    log,
    cert: init.server.certificate,
    key: init.server.privateKey,
    clientCa: init.clientCa,
  })
  return {
    ready: { port: listener.port },
    answer: (settings) => {
      notReady = settings.notReady
      listener.replaceCertificate(settings.server.certificate, settings.server.privateKey)
      return undefined
    },
    metrics: async () => {
      tellSize((await bytesOf(init.database)) + (await bytesOf(`${init.database}-wal`)))
      return await registry.metrics()
    },
    close: async () => {
      await listener.close()
      await api.close()
      closing.abort()
      await Promise.all([compacting, resealing])
      await store.close()
    },
  }
})

/** Loaded only on hubs with an issuer: the libraries cost memory. */
async function userTokensOf(settings: OidcSettings, log: Logger): Promise<UserTokens> {
  const [{ createIdTokens }, { createIssuerFetch }] = await Promise.all([
    import('../../client/oidc/id-tokens.ts'),
    import('../../client/oidc/issuer-fetch.ts'),
  ])
  return createIdTokens(settings, { clock: systemClock, fetch: createIssuerFetch(settings), log })
}

async function bytesOf(file: string): Promise<number> {
  return await stat(file).then(
    ({ size }) => size,
    () => 0, // there is no write-ahead log yet
  )
}
