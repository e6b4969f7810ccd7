/**
 * The view thread, beside a home that is a kube-apiserver: rows of `view.flotilla.dev`, asked for through that one
 * alone.
 */
import { listenHttps } from '../../apiserver/http/https-listener.ts'
import { createReadServer } from '../../apiserver/server/read-server.ts'
import { openBlobs } from '../../blobs/open-blobs.ts'
import { createClient } from '../../client/create-client.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { listHeads } from '../../journal/head-lease.ts'
import { COMPLIANCE_PURPOSE } from '../../kinds/fields/compliance-record.ts'
import { EVIDENCE_PURPOSE } from '../../wire/evidence/evidence-record.ts'
import { createComplianceExport } from '../evidence/compliance-export.ts'
import { createEvidenceExport } from '../evidence/evidence-export.ts'
import { dialectProjections } from '../home/dialect-projections.ts'
import { createThreadLogger } from './thread-logger.ts'
import { toConnection } from './plain-connection.ts'
import { createDelegatedAuthorizer } from '../view/delegated-authorizer.ts'
import { frontProxyCaller } from '../view/front-proxy.ts'
import { aggregatedProjection, hubViews } from '../view/hub-views.ts'
import { openMirrorStore } from '../view/mirror-store.ts'
import { serveThread } from './serve-thread.ts'

await serveThread<'view'>(async (init) => {
  const log = await createThreadLogger(init.logLevel, { thread: 'view' })
  const ports = { clock: systemClock, ids: systemIds, log }
  const { transport, close } = createUndiciTransport(toConnection(init.api))
  const client = createClient({ transport, clock: systemClock, userAgent: 'flotilla-view' })
  const blobs = await openBlobs(init.blobs, { clock: systemClock, ids: systemIds })
  const closing = new AbortController()
  let { keys } = init
  const server = createReadServer({
    ...ports,
    views: [
      ...hubViews(systemClock, blobs),
      ...dialectProjections(init.dialects).map((projection) => aggregatedProjection(projection, systemClock)),
    ],
    exports: [
      createEvidenceExport({ ...ports, blobs, heads: (signal) => listHeads(client, EVIDENCE_PURPOSE, signal) }),
      createComplianceExport({ ...ports, blobs, heads: (signal) => listHeads(client, COMPLIANCE_PURPOSE, signal) }),
    ],
    // Without requests for rows, the thread keeps no copy of them.
    store: () => openMirrorStore({ ...ports, client }, closing.signal),
    authorizer: createDelegatedAuthorizer({ client, clock: systemClock }),
  })
  const listener = await listenHttps({
    ...init.listen,
    ...ports,
    handle: server.handle,
    cert: keys.server.certificate,
    key: keys.server.privateKey,
    clientCa: keys.proxy.clientCa,
    identify: (proven, headers) => frontProxyCaller(keys.proxy, proven, headers),
  })
  return {
    ready: { port: listener.port },
    answer: (next) => {
      keys = next
      listener.replaceCertificate(next.server.certificate, next.server.privateKey, next.proxy.clientCa)
      return undefined
    },
    close: async () => {
      server.close()
      await listener.close()
      closing.abort()
      await blobs.close()
      await close()
    },
  }
})
