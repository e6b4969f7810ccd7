import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { kubeconfigFor, readKubeconfig } from '../../src/client/kubeconfig.ts'
import { createRest } from '../../src/client/rest.ts'
import { createUndiciTransport } from '../../src/client/undici-transport.ts'
import { Secret } from '../../src/core/secret.ts'
import { systemClock } from '../../src/core/time/system-clock.ts'
import { checkAgentFlow } from './check-agent.ts'
import { FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

/** A kubeconfig of an account that may do nothing. */
async function strangerOf(t: Cleanup, file: string): Promise<string> {
  const { connection } = await readKubeconfig({
    text: readFileSync(file, 'utf8'),
    file,
    readFile: async (path) => readFileSync(path, 'utf8'),
  })
  const { transport, close } = createUndiciTransport(connection)
  const rest = createRest({ transport, clock: systemClock, userAgent: 'test' })
  const answer = (await rest.json({
    method: 'POST',
    path: '/api/v1/namespaces/default/serviceaccounts/default/token',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })) as { status: { token: string } }
  await close()
  const { server, ca } = connection
  const user = { server, ...(ca === undefined ? {} : { ca }), token: new Secret(answer.status.token), user: 'stranger' }
  const kubeconfig = join(temporaryFolder(t), 'stranger.kubeconfig')
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigFor('cluster', user)))
  return kubeconfig
}

test('an agent of an embedded cluster is looked at where it runs', async (t) => {
  const cluster = startFlotilla(t, ['hub', 'run', '--data', join(temporaryFolder(t), 'cluster'), ...FREE])
  const [, kubeconfig = ''] = await cluster.says(/kubeconfig (\S+)\n/)
  await checkAgentFlow(t, kubeconfig, await strangerOf(t, kubeconfig))
})

test('a missing flag is an error', async (t) => {
  const cases = [
    [['check', '--agent'], 'missing --data'],
    [['check', '--agent', '--data', 'x'], 'missing --kubeconfig'],
    [['check', 'store-1', '--agent'], '--agent checks the agent on this machine and cannot be combined with a cluster'],
    [['check', '--data', 'x'], '--data requires --agent'],
  ] as const
  for (const [args, what] of cases) {
    const { code, stderr } = await runFlotilla(t, args)
    assert.equal(code, 2)
    assert.match(stderr, new RegExp(`^error: ${what.replaceAll('?', '\\?')}\n`))
  }
})
