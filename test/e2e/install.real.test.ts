/**
 * The page "Install a hub on Kubernetes" on a real API server, with the real Helm and kubectl and a real S3 server: its
 * commands are run as they are written. No kubelet runs in tests: what the chart installed is run as processes, with
 * folders for the mounts and the token of the ServiceAccount.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { AGENT_SETS, HUB_SETS } from '../../scripts/charts/chart-cases.ts'
import { renderOwnChart, writeCharts } from '../../scripts/charts/chart-files.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { freePort } from '../../src/testing/control-plane/server-processes.ts'
import { S3_ACCOUNT, startS3Server } from '../../src/testing/s3/s3-server.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { eventually, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup, FlotillaProcess } from './flotilla-process.ts'

const REPOSITORY = resolve(import.meta.dirname, '../..')
const PAGE = join(REPOSITORY, 'docs/how-to/install-on-kubernetes.md')
const NAMESPACE = '/api/v1/namespaces/flotilla-system'

/** The commands of the page that a test can run, in order, and the settings that belong to the installation. */
function readPage(): { readonly commands: readonly string[]; readonly settings: string } {
  const text = readFileSync(PAGE, 'utf8')
  const blocks = (language: string) =>
    [...text.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, block]) => block!)
  const [settings] = blocks('yaml')
  return { commands: blocks('sh'), settings: settings! }
}

interface Pod {
  readonly containers: readonly {
    readonly args: readonly string[]
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  }[]
  readonly volumes: readonly {
    readonly name: string
    readonly configMap?: { readonly name: string }
    readonly secret?: { readonly secretName: string }
  }[]
}

/** What is different in a test: addresses. */
interface Places {
  readonly s3: string
  readonly metrics: number
}

/** Runs the container of a pod as a kubelet would, as far as the hub needs it. */
async function startPod(
  t: Cleanup,
  home: ControlPlane,
  name: string,
  { s3, metrics }: Places,
): Promise<FlotillaProcess> {
  const folder = temporaryFolder(t)
  const read = async <T>(path: string): Promise<T> => {
    const { status, text } = await home.call('GET', path)
    assert.equal(status, 200, text)
    return JSON.parse(text) as T
  }
  const set = '/apis/apps/v1/namespaces/flotilla-system/statefulsets/flotilla-hub'
  const { spec } = await read<{ spec: { template: { spec: Pod & { serviceAccountName: string } } } }>(set)
  const pod = spec.template.spec
  const [container] = pod.containers
  const account = '/var/run/secrets/kubernetes.io/serviceaccount'
  const mounts = new Map(container!.volumeMounts.map((mount) => [mount.mountPath, join(folder, mount.name)]))
  mounts.delete('/tmp')
  mounts.set(account, join(folder, 'account'))
  for (const path of mounts.values()) mkdirSync(path, { recursive: true })
  const inside = (text: string): string => {
    let result = text
      .replaceAll('https://kubernetes.default.svc', home.url)
      .replaceAll('https://s3.example.com', s3)
      .replaceAll(/0\.0\.0\.0:744[34]/g, '127.0.0.1:0')
      .replaceAll('0.0.0.0:7481', `127.0.0.1:${metrics}`)
    // The longest path first: /etc/flotilla is a part of none of the others.
    for (const [path, real] of [...mounts].toSorted(([a], [b]) => b.length - a.length))
      result = result.replaceAll(new RegExp(`${path}(?=[/"\\s]|$)`, 'gm'), real)
    return result
  }
  for (const { name: volume, configMap, secret } of pod.volumes) {
    if (configMap) {
      const { data } = await read<{ data: Record<string, string> }>(`${NAMESPACE}/configmaps/${configMap.name}`)
      for (const [file, text] of Object.entries(data)) writeFileSync(join(folder, volume, file), inside(text))
    }
    if (secret) {
      const { data } = await read<{ data: Record<string, string> }>(`${NAMESPACE}/secrets/${secret.secretName}`)
      for (const [file, text] of Object.entries(data))
        writeFileSync(join(folder, volume, file), Buffer.from(text, 'base64'))
    }
  }
  const minted = await home.call('POST', `${NAMESPACE}/serviceaccounts/${pod.serviceAccountName}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  })
  assert.equal(minted.status, 201, minted.text)
  writeFileSync(
    join(folder, 'account', 'token'),
    (JSON.parse(minted.text) as { status: { token: string } }).status.token,
  )
  writeFileSync(join(folder, 'account', 'ca.crt'), home.ca)
  // Two pods on one machine: the console of each would take the same port.
  const env = { FLOTILLA_HUB_NAME: name, FLOTILLA_HUB_CONSOLE_LISTEN: '127.0.0.1:0' }
  return startFlotilla(t, container!.args.map(inside), { env })
}

test('the commands of the page install a hub with two pods that become ready and take clusters', async (t) => {
  const folder = temporaryFolder(t)
  await using home = await startControlPlane({ controllers: true })
  await using s3 = await startS3Server()
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const name of ['helm', 'kubectl'] as const) symlinkSync(needBinary(name), join(bin, name))
  symlinkSync(join(REPOSITORY, 'bin/flotilla'), join(bin, 'flotilla'))
  writeCharts(join(folder, 'dist'))
  writeFileSync(join(folder, 'access-key-id'), S3_ACCOUNT.accessKeyId)
  writeFileSync(join(folder, 'secret-access-key'), S3_ACCOUNT.secretAccessKey)
  const { commands, settings } = readPage()
  writeFileSync(join(folder, 'hub.yaml'), settings)
  const run = (text: string): string => {
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, KUBECONFIG: home.kubeconfigPath, HOME: folder }
    const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', text], { cwd: folder, env, encoding: 'utf8' })
    assert.equal(status, 0, `${text}\n${stdout}${stderr}`)
    return stdout
  }
  assert.equal(commands.length, 3)
  for (const command of commands) run(command)

  const pods: FlotillaProcess[] = []
  for (const name of ['flotilla-hub-0', 'flotilla-hub-1']) {
    const metrics = await freePort()
    const pod = await startPod(t, home, name, { s3: s3.endpoint, metrics })
    pods.push(pod)
    await eventually(`${name} being ready`, async () => {
      const answer = await fetch(`http://127.0.0.1:${metrics}/readyz`).catch(() => undefined)
      return answer?.status === 200 ? true : undefined
    })
    assert.equal((await fetch(`http://127.0.0.1:${metrics}/livez`)).status, 200)
  }
  // A kube-apiserver accepts what the charts make of every setting; it does not know the kinds of other projects.
  run('kubectl create namespace flotilla-agent && kubectl create namespace shop && kubectl create namespace web')
  for (const [name, sets] of [
    ['flotilla-hub', HUB_SETS],
    ['flotilla-agent', AGENT_SETS],
  ] as const) {
    const rendered = Object.values(sets).flatMap((set) => renderOwnChart(name, { set }).split(/^---\n/m))
    const known = [...new Set(rendered)].filter((text) => !/^kind: (ServiceMonitor|TLSRoute)$/m.test(text))
    writeFileSync(join(folder, 'all.yaml'), known.join('---\n'))
    // Fields of an existing StatefulSet cannot be changed.
    run('sed -i "s/name: flotilla-hub/name: other-hub/" all.yaml')
    run('kubectl apply --dry-run=server -f all.yaml')
  }
  const manifest = run('flotilla cluster add store-042 -o manifest')
  assert.match(manifest, /image: registry\.example\.com\/platform\/flotilla-agent:0\.1\.0/)
  assert.match(manifest, /--data/)
  interface Checked {
    readonly categories: readonly {
      readonly checks: readonly { readonly description: string; readonly result: string }[]
    }[]
  }
  const checked = await eventually('the check of both pods', async () => {
    const { categories } = JSON.parse(run('flotilla check -o json')) as Checked
    const lines = categories.flatMap(({ checks }) =>
      checks.map(({ result, description }) => `${result} ${description}`),
    )
    return /flotilla-hub-0".*\n[^]*flotilla-hub-1"/.test(lines.join('\n')) ? lines : undefined
  })
  // The administrator of the test's control plane has a certificate for a day.
  // No load balancer has the address of the page.
  const expected = /^success|^warning (your certificate|gateway https:\/\/hub\.example\.com:7444 cannot be reached)/
  const problems = checked.filter((line) => !expected.test(line))
  assert.deepEqual(problems, [])
  for (const pod of pods) {
    const { code, stderr } = await pod.stop('SIGTERM')
    assert.equal(code, 0, stderr)
    const denied = stderr
      .split('\n')
      .filter((line) => /forbidden|cannot (get|list|watch|create|update|patch|delete)/i.test(line))
    assert.deepEqual(denied, [])
  }
})
