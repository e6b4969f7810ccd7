/**
 * The door of renewals: sealing keys change on a whole hub, where the gateway has its own role and the hub has installed
 * its policies, and no agent is locked out.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { RENEWALS_PER_SEALING_KEY } from '../../../src/agent/link/identity.ts'
import { AGENT_FILES } from '../../../src/agent/storage/storage.ts'
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import { eventually, runFlotilla, startFlotilla, temporaryFolder } from '../flotilla-process.ts'
import type { FlotillaProcess } from '../flotilla-process.ts'
import { startHub } from '../secret-values.ts'

const content = (password: string) => `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: everywhere, namespace: default}
spec: {clusterSelector: {}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: shop, namespace: default}
spec:
  placement: everywhere
  manifests: |
    apiVersion: v1
    kind: Secret
    metadata: {name: db, namespace: default}
    stringData: {password: ${password}}
`

test(
  'F1: a sealing key is replaced on request and after some renewals, and the agent is never locked out',
  { timeout: 300_000 },
  async (t) => {
    const folder = temporaryFolder(t)
    const hub = await startHub(t, join(folder, 'hub'))
    // An embedded hub is a Kubernetes API: it stands in for a cluster.
    const site = await startHub(t, join(folder, 'site'))
    const flotilla = async (args: readonly string[], input = '') => {
      const ended = await runFlotilla(t, [...args, '--kubeconfig', hub.kubeconfig], { input })
      assert.equal(ended.code, 0, ended.stderr)
      return ended.stdout
    }
    const cluster = async () => JSON.parse(await flotilla(['get', 'cluster', 'store-1', '-o', 'json'])) as Cluster
    const { code } = JSON.parse(await flotilla(['cluster', 'add', 'store-1', '-o', 'json'])) as { code: string }
    const data = join(folder, 'agent')
    const startAgent = async () => {
      const agent = startFlotilla(t, ['agent', 'run', '--join', code, '--kubeconfig', site.kubeconfig, '--data', data])
      await eventually('the agent follows the hub', async () => {
        assertNotRefused(agent)
        return agent.logged().includes('"state":"Following"') || undefined
      })
      return agent
    }
    const deliver = async (password: string) => {
      await flotilla(['apply', '-f', '-'], content(password))
      const read = ['get', 'secret', 'db', '-n', 'default', '-o', 'jsonpath={.data.password}']
      await eventually(`${password} is in the cluster`, async () => {
        const { stdout } = await runFlotilla(t, [...read, '--kubeconfig', site.kubeconfig])
        return Buffer.from(stdout, 'base64').toString() === password || undefined
      })
    }
    const first = await startAgent()
    await deliver('one')

    const { sealingKey: joined } = (await cluster()).spec
    await flotilla(['trust', 'rotate', 'sealing', 'store-1', '--reason', 'a lost disk'])
    const rotated = await eventually('the hub has the key that it asked for', async () => {
      assertNotRefused(first)
      const { spec, status } = await cluster()
      const asked = status?.conditions?.find(({ type }) => type === 'SealingKeyRetired')
      return spec.sealingKey !== joined && asked?.reason === 'Replaced' ? spec.sealingKey : undefined
    })
    await deliver('two')
    assert.equal((await first.stop()).code, 0)

    // About a hundred days later: the certificate is due, and this renewal makes a new key.
    const change = (name: string, fields: object) => {
      const file = join(data, name)
      writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...fields }))
    }
    change(AGENT_FILES.identity, { sealingKeyRenewals: RENEWALS_PER_SEALING_KEY })
    change(AGENT_FILES.transport, { renewAt: 0 })
    const { certificate: before } = (await cluster()).status!
    const second = await startAgent()
    const { spec, status } = await cluster()
    assert.equal(new Set([joined, rotated, spec.sealingKey]).size, 3)
    assert.notEqual(status!.certificate!.fingerprint, before!.fingerprint)
    await deliver('three')
    assert.equal((await second.stop()).code, 0)
  },
)

function assertNotRefused(agent: FlotillaProcess): void {
  assert.doesNotMatch(agent.logged(), /"state":"Refused"|refused the new sealing key/)
}
