/** The ManifestWork labs of Open Cluster Management, unedited, with kubectl: a real control plane is the cluster. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { systemClock } from '../../src/core/time/system-clock.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { startFleetHub } from './fleet-flow.ts'
import { runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const execute = promisify(execFile)
const lab = (name: string) => join(import.meta.dirname, '../labs', name)

/** A Deployment whose selector does not match its template: only the API server of the cluster knows that. */
const BROKEN = `apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata:
  name: broken
  namespace: spoke1
spec:
  workload:
    manifests:
    - apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: broken
        namespace: default
      spec:
        selector:
          matchLabels:
            app: one
        template:
          metadata:
            labels:
              app: other
          spec:
            containers:
            - name: web
              image: nginx:1.27
    - apiVersion: v1
      kind: ConfigMap
      metadata:
        name: beside-broken
        namespace: default
`

/** An executor that may write ConfigMaps, and no Secrets. */
const LIMITED = `apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata:
  name: limited
  namespace: spoke1
spec:
  executor:
    subject:
      type: ServiceAccount
      serviceAccount:
        namespace: default
        name: limited
  workload:
    manifests:
    - apiVersion: v1
      kind: Secret
      metadata:
        name: not-allowed
        namespace: default
    - apiVersion: v1
      kind: ConfigMap
      metadata:
        name: allowed
        namespace: default
`
const ERROR =
  'Deployment.apps "broken" is invalid: spec.template.metadata.labels: Invalid value: {"app":"other"}: `selector` does not match template `labels`'

let plane: Awaited<ReturnType<typeof startControlPlane>>
before(async () => {
  plane = await startControlPlane()
})
after(() => plane.stop())

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    assert.ok(tries < 120, 'waited too long')
    await systemClock.sleep(500)
  }
}

/** A lab: its cluster, its file and the Deployment that it brings. */
interface Lab {
  readonly spoke: string
  readonly file: string
  readonly deployment: string
}

async function labs(t: TestContext, { spoke, file, deployment }: Lab, home: readonly string[] = []) {
  const site = async (...args: string[]): Promise<string> =>
    (await execute(needBinary('kubectl'), ['--kubeconfig', plane.kubeconfigPath, ...args], { timeout: 60_000 })).stdout
  const { kubeconfig, kubectl } = await startFleetHub(t, '--dialects', 'ocm', ...home)
  const added = await runFlotilla(t, ['cluster', 'add', spoke, '-o', 'json', '--kubeconfig', kubeconfig])
  const { code } = JSON.parse(added.stdout) as { code: string }
  const data = join(temporaryFolder(t), 'agent')
  startFlotilla(t, ['agent', 'run', '--join', code, '--kubeconfig', plane.kubeconfigPath, '--data', data])
  // The hub makes the namespace of a cluster that it accepts.
  await kubectl('wait', '--for=create', `namespace/${spoke}`, '--timeout=110s')
  await kubectl('apply', '-f', lab(file))
  const name = /name: (\S+)/.exec(await kubectl('get', 'manifestworks', '-n', spoke, '-o', 'yaml'))![1]!
  for (const condition of ['Applied', 'Available']) {
    await kubectl('wait', '-n', spoke, `manifestwork/${name}`, `--for=condition=${condition}`, '--timeout=110s')
  }
  assert.match(await kubectl('get', 'mw', '-n', spoke), new RegExp(`${name} +True +True`))
  assert.equal(
    await site('get', 'deployment', '-n', 'default', deployment, '-o', 'name'),
    `deployment.apps/${deployment}\n`,
  )
  return { kubectl, site, kubeconfig, name }
}

test('lab 1 on a hub of its own, and a broken work carries the error of the cluster word for word', async (t) => {
  const { kubectl, site, kubeconfig, name } = await labs(t, {
    spoke: 'spoke1',
    file: '001-manifestwork-deploy-nginx.yaml',
    deployment: 'nginx-fleet',
  })
  const file = join(temporaryFolder(t), 'broken.yaml')
  writeFileSync(file, BROKEN)
  await kubectl('apply', '-f', file)
  await kubectl('wait', '-n', 'spoke1', 'manifestwork/broken', '--for=condition=Applied=False', '--timeout=110s')
  const path = '{.status.resourceStatus.manifests[0].conditions[?(@.type=="Applied")].message}'
  const message = await kubectl('get', 'mw', '-n', 'spoke1', 'broken', '-o', `jsonpath=${path}`)
  assert.equal(message, `Failed to apply manifest: ${ERROR}`)
  assert.match(await site('get', 'configmap', '-n', 'default', 'beside-broken', '-o', 'name'), /beside-broken/)
  const applied = '{.status.resourceStatus.manifests[*].conditions[?(@.type=="Applied")].status}'
  const statuses = async (work: string) => await kubectl('get', 'mw', '-n', 'spoke1', work, '-o', `jsonpath=${applied}`)
  await until(async () => (await statuses('broken')) === 'False True')

  const rights = ['--verb=get,list,watch,create,patch,update,delete', '--resource=configmaps', '-n', 'default']
  await site('create', 'serviceaccount', 'limited', '-n', 'default')
  await site('create', 'role', 'limited', ...rights)
  await site('create', 'rolebinding', 'limited', '--role=limited', '--serviceaccount=default:limited', '-n', 'default')
  writeFileSync(file, LIMITED)
  await kubectl('apply', '-f', file)
  await kubectl('wait', '-n', 'spoke1', 'manifestwork/limited', '--for=condition=Applied=False', '--timeout=110s')
  await until(async () => (await statuses('limited')) === 'False True')
  assert.match(
    await kubectl('get', 'mw', '-n', 'spoke1', 'limited', '-o', `jsonpath=${path}`),
    /^Failed to apply manifest: secrets "not-allowed" is forbidden: User "system:serviceaccount:default:limited" cannot get resource/,
  )
  assert.match(await site('get', 'configmap', '-n', 'default', 'allowed', '-o', 'name'), /allowed/)

  const rows = await runFlotilla(t, ['get', 'deliveries', '-n', 'spoke1', '--kubeconfig', kubeconfig])
  assert.match(rows.stdout, /broken +1 +False +DeliveryFailed/)
  assert.match(rows.stdout, new RegExp(`${name} +1 +`))
  await kubectl('delete', 'mw', '-n', 'spoke1', '--all', '--wait', '--timeout=110s')
  assert.equal(await site('get', 'deployment', '-n', 'default', '-o', 'name'), '')
})

test('the other lab on a hub whose home is a real kube-apiserver', async (t) => {
  const home = ['--kubeconfig', plane.kubeconfigPath]
  const { kubectl, name } = await labs(
    t,
    { spoke: 'fleet-spoke', file: '000-lab1-manifestwork-nginx.yaml', deployment: 'nginx-fleet-lab' },
    home,
  )
  await kubectl('delete', 'mw', '-n', 'fleet-spoke', name, '--wait', '--timeout=110s')
})
