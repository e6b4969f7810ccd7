/** Commands of kubectl that send typed objects (protobuf bodies) or patches made from them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startApiHome } from '../../testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../testing/control-plane/embedded-api.ts'
import { needBinary } from '../../testing/testenv.ts'

const templateOf = (image: string, hash?: string) => ({
  metadata: { labels: { app: 'web', ...(hash === undefined ? {} : { 'pod-template-hash': hash }) } },
  spec: { containers: [{ name: 'c', image, ports: [{ containerPort: 80 }] }] },
})

describe('kubectl: typed commands', { timeout: 120_000 }, () => {
  let home: ApiHome
  let folder: string

  before(async () => {
    home = await startApiHome()
    folder = await mkdtemp(join(tmpdir(), 'flotilla-kubectl-'))
    await writeFile(join(folder, 'kubeconfig'), home.kubeconfig)
    await create('web', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', annotations: { 'deployment.kubernetes.io/revision': '2' } },
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: templateOf('c:1') },
    })
    await create('node', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels: { rack: 'a' } } })
  })
  after(async () => {
    await home?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  async function kubectl(...args: readonly string[]): Promise<string> {
    const all = ['--kubeconfig', join(folder, 'kubeconfig'), '--cache-dir', join(folder, 'cache'), ...args]
    return new Promise((resolve, reject) => {
      execFile(needBinary('kubectl'), all, { cwd: folder, timeout: 60_000 }, (error, out, err) => {
        if (error) reject(new Error(`kubectl ${args.join(' ')}: ${err}${out}`))
        else resolve(out)
      })
    })
  }

  const get = (what: string, path: string) => kubectl('get', what, '-o', `jsonpath={${path}}`)

  async function create(name: string, object: object): Promise<void> {
    await writeFile(join(folder, `${name}.json`), JSON.stringify(object))
    await kubectl('create', '-f', `${name}.json`)
  }

  it('autoscale makes an autoscaler of the newest form', async () => {
    await kubectl('autoscale', 'deployment', 'web', '--min=2', '--max=5', '--cpu=70%')
    assert.equal(
      await get('hpa/web', '.apiVersion} {.spec.minReplicas} {.spec.maxReplicas} {.spec.scaleTargetRef.name'),
      'autoscaling/v2 2 5 web',
    )
    assert.equal(await get('hpa/web', '.spec.metrics[0].resource.target.averageUtilization'), '70')
  })

  it('expose makes a service of the selector and the ports', async () => {
    await kubectl('expose', 'deployment', 'web', '--port=8080', '--target-port=80')
    assert.equal(
      await get('svc/web', '.spec.selector.app} {.spec.ports[0].port} {.spec.ports[0].targetPort'),
      'web 8080 80',
    )
    assert.match(await get('svc/web', '.spec.clusterIP'), /^10\./)
  })

  it('set image changes one container and keeps the rest', async () => {
    assert.equal(await kubectl('set', 'image', 'deployment/web', 'c=c:2'), 'deployment.apps/web image updated\n')
    assert.equal(
      await get(
        'deploy/web',
        '.spec.template.spec.containers[*].image} {.spec.template.spec.containers[0].ports[0].containerPort',
      ),
      'c:2 80',
    )
    assert.equal(await get('deploy/web', '.metadata.generation'), '2')
  })

  it('rollout restart marks the template; undo brings back the one of an older replica set', async () => {
    assert.equal(await kubectl('rollout', 'restart', 'deployment/web'), 'deployment.apps/web restarted\n')
    const marked = '.spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt'
    assert.match(await get('deploy/web', marked), /^\d{4}-\d\d-\d\dT/)
    const uid = await get('deploy/web', '.metadata.uid')
    for (const [revision, image] of [
      ['1', 'c:1'],
      ['2', 'c:2'],
    ] as const) {
      const hash = `h${revision}`
      await create(hash, {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: {
          name: `web-${hash}`,
          labels: { app: 'web', 'pod-template-hash': hash },
          annotations: { 'deployment.kubernetes.io/revision': revision },
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid, controller: true }],
        },
        spec: {
          selector: { matchLabels: { app: 'web', 'pod-template-hash': hash } },
          template: templateOf(image, hash),
        },
      })
    }
    assert.match(await kubectl('rollout', 'history', 'deployment/web'), /^1 +<none>\n2 +<none>$/m)
    assert.equal(await kubectl('rollout', 'undo', 'deployment/web'), 'deployment.apps/web rolled back\n')
    assert.equal(await get('deploy/web', '.spec.template.spec.containers[0].image'), 'c:1')
    assert.equal(await get('deploy/web', marked), '')
    assert.equal(await get('deploy/web', '.spec.template.metadata.labels'), '{"app":"web"}')
  })

  it('taint, cordon and drain change a node, or nothing when they only try', async () => {
    const taints = '.spec.taints[*].key} {.spec.unschedulable'
    assert.equal(await kubectl('taint', 'node', 'n1', 'old=disk:NoSchedule'), 'node/n1 tainted\n')
    assert.match(await get('node/n1', '.metadata.managedFields[*].manager'), /\bkubectl-taint\b/)
    assert.equal(await kubectl('cordon', 'n1', '--dry-run=server'), 'node/n1 cordoned (server dry run)\n')
    assert.equal(await get('node/n1', taints), 'old ')
    assert.equal(await kubectl('cordon', 'n1'), 'node/n1 cordoned\n')
    assert.equal(await get('node/n1', taints), 'old true')
    assert.match(await kubectl('drain', 'n1', '--dry-run=server'), /^node\/n1 drained \(server dry run\)$/m)
    assert.equal(await kubectl('uncordon', 'n1'), 'node/n1 uncordoned\n')
    assert.equal(await kubectl('taint', 'node', 'n1', 'old-'), 'node/n1 untainted\n')
    assert.equal(await get('node/n1', taints), ' ')
  })
})
