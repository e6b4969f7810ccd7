// Tested by src/hub/push/pushed-agents.contract.test.ts
/** A thread of agents that the hub runs for clusters registered by a kubeconfig. */
import { join } from 'node:path'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import type { Connection } from '../../client/connection.ts'
import { Secret } from '../../core/secret.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { allowHost } from '../../core/text/egress.ts'
import { guardedLookup } from '../../source/egress-lookup.ts'
import { createThreadLogger } from './thread-logger.ts'
import { toConnection } from './plain-connection.ts'
import type { PlainPushTarget } from './messages.ts'
import { serveThread } from './serve-thread.ts'

// The stream, reports and blobs of an agent.
const GATEWAY_CONNECTIONS = 4
// Each kind of object that an agent manages has a watch of its own.
const CLUSTER_CONNECTIONS = 64

await serveThread<'push'>(async ({ folder, gateway, egress, account, logLevel }) => {
  const [{ startPushedAgent }, { notePushedCluster }, { renderInThreads }] = await Promise.all([
    import('../../agent/pushed/pushed-agent.ts'),
    import('../../agent/pushed/pushed-identity.ts'),
    import('../../agent/render/render-in-threads.ts'),
  ])
  const log = await createThreadLogger(logLevel, { thread: 'push' })
  const clock = systemClock
  const agents = new Map<
    string,
    { readonly clusterId: string; readonly agent: Awaited<ReturnType<typeof startPushedAgent>> }
  >()
  const render = renderInThreads(clock)
  let isClosing = false

  function connect(connection: Connection) {
    const { hostname, port } = new URL(connection.server)
    const lookup = guardedLookup(egress, allowHost(egress, { hostname, port: port || '443' }))
    return createUndiciTransport(connection, { maxConnections: CLUSTER_CONNECTIONS, lookup })
  }

  async function stop(name: string): Promise<void> {
    const known = agents.get(name)
    agents.delete(name)
    await known?.agent.stop()
  }

  async function run({ name, clusterId, credential }: PlainPushTarget): Promise<void> {
    const known = agents.get(name)
    if (known?.clusterId === clusterId) return await known.agent.setCredential(toConnection(credential))
    await stop(name)
    const files = join(folder, name)
    await notePushedCluster(files, clusterId)
    const agent = await startPushedAgent(files, toConnection(credential), {
      clock,
      ids: systemIds,
      log: log.child({ cluster: name }),
      connect,
      account,
      render,
      // The gateway of this very process, whatever address other agents use.
      hub: ({ cas, certificate, privateKey }) =>
        createUndiciTransport(
          {
            server: gateway,
            ...(cas === undefined ? { insecure: true } : { ca: cas.join('\n') }),
            ...(certificate === undefined || privateKey === undefined
              ? {}
              : { cert: certificate, key: new Secret(privateKey) }),
          },
          { maxConnections: GATEWAY_CONNECTIONS },
        ),
    })
    // The agent was starting when the thread was asked to close.
    if (isClosing) await agent.stop()
    else agents.set(name, { clusterId, agent })
  }

  return {
    ready: undefined,
    answer: async (call) => {
      if (call.do === 'run') await run(call.target)
      else if (call.do === 'stop') await stop(call.name)
      else return [...agents].map(([name, { agent }]) => ({ name, ...agent.state() }))
      return []
    },
    close: async () => {
      isClosing = true
      await Promise.all([...agents.keys()].map(stop))
    },
  }
})
