/** Evidence from a real agent to a verified file, with the hub of either home. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ClusterReport } from '../../src/kinds/native/cluster-report.ts'
import { eventually, FREE, runFlotilla, startFlotilla } from './flotilla-process.ts'

const CONTENT = `apiVersion: flotilla.dev/v1alpha1
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
    kind: ConfigMap
    metadata: {name: hello, namespace: default}
    data: {text: good morning}
`

export interface EvidenceWorld {
  readonly folder: string
  /** Further arguments of `hub run`. */
  readonly home: readonly string[]
  /** Kubeconfig of the managed cluster. */
  readonly site: string
}

/**
 * A cluster runs a Bundle, the hub stops and starts again: the evidence is there, verifies, and a changed file does
 * not.
 */
export async function proveEvidence(t: TestContext, { folder, home, site }: EvidenceWorld): Promise<void> {
  const data = join(folder, 'hub')
  const startHub = async () => {
    const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...home, ...FREE])
    const [, kubeconfig = ''] = await hub.says(/^flotilla hub ready: .* kubeconfig (\S+)\n/)
    const flotilla = (args: readonly string[], input = '') =>
      runFlotilla(t, [...args, '--kubeconfig', kubeconfig], { input })
    const ok = async (args: readonly string[], input = '') => {
      const ended = await flotilla(args, input)
      assert.equal(ended.code, 0, `flotilla ${args.join(' ')}: ${ended.stderr}`)
      return ended.stdout
    }
    return { hub, flotilla, ok }
  }
  const first = await startHub()
  const { code } = JSON.parse(await first.ok(['cluster', 'add', 'store-1', '-o', 'json'])) as { code: string }
  const agentFlags = ['--kubeconfig', site, '--data', join(folder, 'agent')]
  const agent = startFlotilla(t, ['agent', 'run', '--join', code, ...agentFlags])
  await first.ok(['apply', '-f', '-'], CONTENT)
  const document = await eventually('a report of Ready', async () => {
    const { stdout } = await first.flotilla(['get', 'clusterreport', 'store-1', '-o', 'json'])
    if (stdout === '') return undefined
    const { spec } = JSON.parse(stdout) as ClusterReport
    return spec.bundles.some(({ state }) => state === 'Ready') ? spec.document : undefined
  })
  await agent.stop()
  // A hub that stops stores the records that wait.
  assert.equal((await first.hub.stop()).code, 0)

  const { ok, hub, flotilla } = await startHub()
  const exported = await eventually('the export', async () => {
    // On a kube-apiserver, the group is there when the aggregation layer has reached the hub.
    const ended = await flotilla(['evidence', 'export', 'store-1'])
    return ended.code === 0 ? ended.stdout : undefined
  })
  const [file, trust] = [join(folder, 'store-1.evidence'), join(folder, 'trust.json')]
  writeFileSync(file, exported)
  writeFileSync(trust, await ok(['trust', 'export', '--data', data]))
  assert.equal((await hub.stop()).code, 0)
  const verify = () => runFlotilla(t, ['evidence', 'verify', file, '--root-key', trust, '--strict', '-o', 'json'])
  const verified = await verify()
  assert.equal(verified.code, 0, `${verified.stdout}\n${verified.stderr}`)
  const result = JSON.parse(verified.stdout) as { documents: { digest: string }[]; reports: { count: number } }
  assert.ok(result.reports.count > 0)
  assert.ok(result.documents.some(({ digest }) => digest === document))
  writeFileSync(file, readFileSync(file, 'utf8').replace('Ready', 'Steady'))
  assert.equal((await verify()).code, 1)
}
