/** The gateway thread: agents connect with mutual TLS, and the thread uses the hub's API over HTTPS as any client. */
import { readFile } from 'node:fs/promises'
import Registry from '@prometheus-io/client/lib/registry.js'
import { openBlobs } from '../../blobs/open-blobs.ts'
import { createClient } from '../../client/create-client.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { hkdf, utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { prometheusMetrics } from '../../engine/prometheus.ts'
import { listenForAgents } from '../../gateway/https-listener.ts'
import { composeGateway } from '../compose/compose-gateway.ts'
import { createThreadLogger } from './thread-logger.ts'
import { declareJournals, declareStreams, measureGateway } from '../metrics/thread-metrics.ts'
import { toConnection } from './plain-connection.ts'
import type { GatewayKeys, GatewaySettings } from './messages.ts'
import { serveThread } from './serve-thread.ts'

/**
 * The keys as the listener has them. Tickets are sealed with a key made from the CA's: agents resume their sessions
 * also after a restart.
 */
function listenerKeys({ server, transportCa, trust }: GatewayKeys) {
  return {
    certificate: server.certificate,
    privateKey: server.privateKey,
    cas: trust.newest.bundle.transportCas,
    ticketKeys: hkdf(utf8(transportCa.privateKey), new Uint8Array(), 'flotilla TLS tickets v1', 48),
  }
}

// One API answers them all: more connections than it has work for would only be handshakes, all at once when a fleet
// comes back.
const API_CONNECTIONS = 24

await serveThread<'gateway'>(async (init) => {
  const log = await createThreadLogger(init.logLevel, { thread: 'gateway' })
  const clock = systemClock
  const ids = systemIds
  const registry = new Registry()
  const metrics = prometheusMetrics(registry)
  const tellStreams = declareStreams(metrics)
  const tellJournals = declareJournals(metrics)
  const { transport, close } = createUndiciTransport(toConnection(init.api), { maxConnections: API_CONNECTIONS })
  const { agentBundle } = init
  /** Kept: machines that start without it are many at once. */
  let program: Uint8Array | undefined
  let keys: GatewaySettings = init
  const blobs = await openBlobs(init.blobs, { clock, ids })
  const gateway = composeGateway({
    name: init.name,
    client: createClient({ transport, clock, userAgent: 'flotilla-gateway' }),
    blobs,
    clock,
    ids,
    log,
    trust: () => keys.trust,
    transportCa: () => keys.transportCa,
    maintenance: () => keys.maintenance,
    ...compact({ evidenceRetentionMs: init.evidenceRetentionMs }),
    ...(agentBundle && {
      agentBundle: async (digest) => {
        if (digest !== agentBundle.digest) return undefined
        if (program) return program
        const bytes = new Uint8Array(await readFile(agentBundle.file))
        if (digestOf(bytes) === digest) program = bytes
        return program
      },
    }),
  })
  const listener = await listenForAgents({
    ...init.listen,
    ...listenerKeys(keys),
    handle: measureGateway(gateway.handle, { clock, metrics }),
    clock,
    log,
  })
  return {
    ready: { port: listener.port },
    answer: async (next) => {
      if ('drainMs' in next) {
        await gateway.drain(next.drainMs)
        return undefined
      }
      keys = next
      listener.replaceKeys(listenerKeys(next))
      // Every stream says the new trust version with its next beat.
      return undefined
    },
    metrics: async () => {
      tellStreams(gateway.streams())
      tellJournals(gateway.journals())
      return await registry.metrics()
    },
    close: async () => {
      await listener.close()
      await gateway.close()
      await blobs.close()
      await close()
    },
  }
})
