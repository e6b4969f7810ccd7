// Real Kubernetes control planes for tests: `await using plane = await startControlPlane()`.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPair } from '../../core/bytes.ts'
import type { CertificateAndKey } from '../../core/crypto/x509.ts'
import { newAuthority } from './certificates.ts'
import { becomeReady, startEtcd } from './etcd.ts'
import type { Etcd, EtcdMember, Machine } from './etcd.ts'
import { freePort, type Server, servers } from './server-processes.ts'
import { needBinary, pinsDir } from '../testenv.ts'

/** What to start besides etcd and kube-apiserver. */
export interface ControlPlaneOptions {
  /** Starts beside two others, for a test that is about three clusters. */
  readonly third?: boolean
  /** The controller manager and the scheduler. */
  readonly controllers?: boolean
  /** This many simulated nodes (kwok), on which pods become Ready; needs controllers. */
  readonly nodes?: number
  /** Every write is on disk before it is acknowledged, for comparisons; tests need no durability. */
  readonly durable?: boolean
  /** Runs when etcd is up and kube-apiserver is not: for what is to be in the store before it starts. */
  beforeStart?(etcdUrl: string, prefix: string): Promise<void>
  /** An etcd of its own, which can be taken back to an earlier state. */
  readonly ownEtcd?: boolean
  /** The number of members of its own etcd; defaults to 1. */
  readonly members?: number
  /** Where the servers run; defaults to this machine. On another one, etcd is its own, and real nodes can join. */
  readonly machine?: Machine
  /** Where a line about every request goes: who asked for what, and the status of the answer. */
  readonly auditLog?: string
}

/** A running control plane; RBAC is on, callers are known by their client certificates. */
export interface ControlPlane extends AsyncDisposable {
  readonly url: string
  /** The administrator's, with everything inside it. */
  readonly kubeconfigPath: string
  /** PEM of the root that issued the server's and all clients' certificates. */
  readonly ca: string
  readonly adminCert: string
  readonly adminKey: string
  /** A certificate for another user, who may do only what RBAC allows. */
  issueClient(user: string, groups?: readonly string[]): CertificateAndKey
  /** The same as kubeconfigPath for another user. */
  writeKubeconfig(user: string, groups?: readonly string[]): string
  /** Sends a request as the administrator. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly text: string }>
  /** The members of its own etcd. */
  readonly members: readonly EtcdMember[]
  /**
   * Copies etcd's data directory while it is stopped; the function it returns brings that state back. Needs `ownEtcd`.
   */
  remember(): Promise<() => Promise<void>>
  stop(): Promise<void>
}

const SLOT_MS = 120_000
const AT_ONCE = 2
const TRIES = 3

const CONTROLLERS = [
  'clusterrole-aggregation-controller',
  'cronjob-controller',
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'endpointslice-controller',
  'garbage-collector-controller',
  'job-controller',
  'namespace-controller',
  'node-lifecycle-controller',
  'persistentvolume-binder-controller',
  'pod-garbage-collector-controller',
  'replicaset-controller',
  'resourcequota-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'statefulset-controller',
  'validatingadmissionpolicy-status-controller',
]

const AUDIT_POLICY = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted', 'Panic'],
  rules: [{ level: 'Metadata' }],
})

/** The address of the Service `kubernetes` where real nodes can join: the first of the range. */
const KUBERNETES_SERVICE = '10.96.0.1'

const FLAGS_WITHOUT_NODES = [
  '--bind-address=127.0.0.1',
  // No client uses this address: it is for the Endpoints `kubernetes`, which must not be loopback.
  '--advertise-address=192.0.2.1',
  '--authorization-mode=RBAC',
  '--service-cluster-ip-range=10.0.0.0/24',
]

/** Pods reach the server by the Service, and it reaches nodes by their addresses, without names. */
const nodeFlags = (address: string): string[] => [
  '--bind-address=0.0.0.0',
  `--advertise-address=${address}`,
  '--authorization-mode=Node,RBAC',
  '--service-cluster-ip-range=10.96.0.0/16',
  '--kubelet-preferred-address-types=InternalIP',
]

const slots = { taken: 0 }
let nextName = 0
let pastStates = 0
/** One etcd for all control planes of this test process, or two: one that waits for the disk, one that does not. */
const shared = new Map<boolean, Promise<Etcd>>()

/**
 * Starts a control plane and waits until it is ready; outside CI at most two run at once, a third waits for its turn.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  if (options.nodes && !options.controllers)
    throw new Error('nodes need controllers: nothing else makes them schedulable')
  if (options.third) slots.taken++
  else await takeSlot()
  try {
    const isDurable = options.durable ?? false
    const machine = options.machine ?? thisMachine
    const settings = { members: options.members ?? 1, durable: isDurable }
    const isOwn = ownsEtcd(options)
    const etcd = await (isOwn ? retry(() => startEtcd(machine, settings)) : sharedEtcd(isDurable))
    return await retry(() => startOnce(etcd, options))
  } catch (error) {
    slots.taken--
    throw error
  }
}

function ownsEtcd({ ownEtcd, members, machine }: ControlPlaneOptions): boolean {
  return ownEtcd === true || members !== undefined || machine !== undefined
}

const thisMachine: Machine = {
  address: '127.0.0.1',
  outside: '127.0.0.1',
  get dir() {
    return servers().dir
  },
  port: freePort,
  start: (name, command, args) => servers().start(name, command, args),
}

async function takeSlot(): Promise<void> {
  const until = performance.now() + SLOT_MS
  while (process.env['CI'] !== 'true' && slots.taken >= AT_ONCE) {
    if (performance.now() > until) throw new Error(`${AT_ONCE} control planes are already up: stop one first`)
    await sleep(100)
  }
  slots.taken++
}

/** Between finding a free port and using it, another process may take it. */
async function retry<T>(start: () => Promise<T>): Promise<T> {
  for (let left = TRIES - 1; ; left--) {
    try {
      return await start()
    } catch (error) {
      if (left === 0 || !String(error).includes('address already in use')) throw error
    }
  }
}

/** Control planes that share an etcd are apart by their prefix. */
function sharedEtcd(isDurable: boolean): Promise<Etcd> {
  const etcd = shared.get(isDurable) ?? retry(() => startEtcd(thisMachine, { durable: isDurable }))
  shared.set(isDurable, etcd)
  return etcd
}

async function startOnce(etcd: Etcd, options: ControlPlaneOptions): Promise<ControlPlane> {
  const name = `plane-${nextName++}`
  const machine = options.machine ?? thisMachine
  const dir = join(machine.dir, name)
  mkdirSync(dir, { mode: 0o700 })
  const write = (file: string, text: string): string => {
    writeFileSync(join(dir, file), text, { mode: 0o600 })
    return join(dir, file)
  }
  const authority = newAuthority()
  const admin = authority.client('admin', ['system:masters'])
  const port = await machine.port(6443)
  const url = `https://${machine.outside}:${port}`
  const caFile = write('ca.crt', authority.certificate)
  const accounts = generateKeyPair('p256')
  const accountKey = write('service-accounts.key', accounts.privateKey)
  const kubeconfigFor = (user: string, client: CertificateAndKey): string =>
    write(
      `${user.replaceAll(/[^\w.-]/g, '-')}.kubeconfig`,
      kubeconfig({ url, ca: authority.certificate, user, client }),
    )
  const kubeconfigPath = kubeconfigFor('admin', admin)

  await options.beforeStart?.(etcd.url, `/${name}`)
  const serving = authority.server(options.machine && [machine.outside, machine.address, KUBERNETES_SERVICE])
  const frontProxy = newAuthority()
  const proxyClient = frontProxy.client('front-proxy-client', [])
  const flags = [
    `--etcd-servers=${etcd.url}`,
    `--etcd-prefix=/${name}`,
    `--secure-port=${port}`,
    ...(options.machine ? nodeFlags(machine.address) : FLAGS_WITHOUT_NODES),
    `--cert-dir=${dir}`,
    `--tls-cert-file=${write('server.crt', serving.certificate)}`,
    `--tls-private-key-file=${write('server.key', serving.privateKey)}`,
    `--client-ca-file=${caFile}`,
    // Requests for groups that others serve are passed on with these.
    `--requestheader-client-ca-file=${write('front-proxy-ca.crt', frontProxy.certificate)}`,
    `--proxy-client-cert-file=${write('front-proxy.crt', proxyClient.certificate)}`,
    `--proxy-client-key-file=${write('front-proxy.key', proxyClient.privateKey)}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-uid-headers=X-Remote-Uid',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${write('service-accounts.pub', accounts.publicKey)}`,
    `--service-account-signing-key-file=${accountKey}`,
    '--allow-privileged',
    // Without the controller manager, namespaces have no default service account.
    ...(options.controllers ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...(options.auditLog === undefined
      ? []
      : [`--audit-log-path=${options.auditLog}`, `--audit-policy-file=${write('audit.yaml', AUDIT_POLICY)}`]),
  ]
  const startApi = () => machine.start(`${name}-kube-apiserver`, needBinary('kube-apiserver'), flags)
  let apiserver = startApi()
  const started: Server[] = []
  let isStopped = false
  const stop = async (): Promise<void> => {
    if (isStopped) return
    isStopped = true
    const all = [...started, apiserver, ...(ownsEtcd(options) ? etcd.members.map(({ server }) => server()) : [])]
    await Promise.all(all.map((server) => server.kill()))
    slots.taken--
  }
  const call: ControlPlane['call'] = (method, path, body, headers = {}) =>
    send({ url: `${url}${path}`, method, body, headers, ca: authority.certificate, client: admin })
  const isReady = async () => (await call('GET', '/readyz')).status === 200
  try {
    await becomeReady([apiserver], isReady)
    if (options.controllers) started.push(...startControllers(machine, name, kubeconfigPath, { caFile, accountKey }))
    if (options.nodes) started.push(await startNodes(name, kubeconfigPath, { count: options.nodes, call }))
    if (options.nodes) await becomeReady(started, () => nodesAreReady(call))
  } catch (error) {
    await Promise.all([apiserver, ...started].map((server) => server.kill()))
    throw error
  }
  /** Works on etcd's directory while etcd is stopped. */
  const meanwhile = async (work: (dir: string) => void): Promise<void> => {
    const [member, ...others] = options.ownEtcd ? etcd.members : []
    if (!member || others.length > 0) {
      throw new Error('only a control plane with an etcd of its own, of one member, can go back: ownEtcd')
    }
    await apiserver.kill()
    await member.kill()
    work(member.dir)
    await member.start()
    apiserver = startApi()
    await becomeReady([apiserver], isReady)
  }
  return {
    url,
    kubeconfigPath,
    ca: authority.certificate,
    adminCert: admin.certificate,
    adminKey: admin.privateKey,
    issueClient: (user, groups = []) => authority.client(user, groups),
    writeKubeconfig: (user, groups = []) => kubeconfigFor(user, authority.client(user, groups)),
    call,
    members: ownsEtcd(options) ? etcd.members : [],
    async remember() {
      const copy = join(machine.dir, `etcd-past-${pastStates++}`)
      await meanwhile((dir) => cpSync(dir, copy, { recursive: true }))
      return () =>
        meanwhile((dir) => {
          rmSync(dir, { recursive: true })
          cpSync(copy, dir, { recursive: true })
        })
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function startControllers(
  machine: Machine,
  name: string,
  kubeconfigPath: string,
  files: { readonly caFile: string; readonly accountKey: string },
): Server[] {
  const shared = [`--kubeconfig=${kubeconfigPath}`, '--leader-elect=false', '--secure-port=0']
  return [
    machine.start(`${name}-kube-controller-manager`, needBinary('kube-controller-manager'), [
      ...shared,
      `--controllers=${CONTROLLERS.join(',')}`,
      `--root-ca-file=${files.caFile}`,
      `--service-account-private-key-file=${files.accountKey}`,
    ]),
    machine.start(`${name}-kube-scheduler`, needBinary('kube-scheduler'), shared),
  ]
}

async function startNodes(
  name: string,
  kubeconfigPath: string,
  { count, call }: { readonly count: number; readonly call: ControlPlane['call'] },
): Promise<Server> {
  for (let n = 0; n < count; n++) {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${n}`, labels: { type: 'kwok' } } }
    const { status, text } = await call('POST', '/api/v1/nodes', node)
    if (status !== 201) throw new Error(`node-${n} could not be made: ${text}`)
  }
  const stages = join(pinsDir, 'kwok/stages.yaml')
  const args = [`--kubeconfig=${kubeconfigPath}`, '--manage-all-nodes', `--config=${stages}`]
  return servers().start(`${name}-kwok`, needBinary('kwok'), args)
}

async function nodesAreReady(call: ControlPlane['call']): Promise<boolean> {
  const { items } = JSON.parse((await call('GET', '/api/v1/nodes')).text) as {
    items: { spec: { taints?: unknown }; status?: { conditions?: { type: string; status: string }[] } }[]
  }
  // A new node is tainted as not ready until the controller manager has seen it Ready.
  return items.every(
    ({ spec, status }) =>
      spec.taints === undefined && status?.conditions?.some((it) => it.type === 'Ready' && it.status === 'True'),
  )
}

function kubeconfig(of: {
  readonly url: string
  readonly ca: string
  readonly user: string
  readonly client: CertificateAndKey
}): string {
  const data = (pem: string): string => Buffer.from(pem).toString('base64')
  const cluster = { server: of.url, 'certificate-authority-data': data(of.ca) }
  const user = {
    'client-certificate-data': data(of.client.certificate),
    'client-key-data': data(of.client.privateKey),
  }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: of.user, user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: of.user } }],
    'current-context': 'test',
  })
}

function send(what: {
  readonly url: string
  readonly method: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly ca: string
  readonly client: CertificateAndKey
}): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      what.url,
      {
        method: what.method,
        ca: what.ca,
        cert: what.client.certificate,
        key: what.client.privateKey,
        agent: false,
        timeout: 10_000,
        headers: { accept: 'application/json', 'content-type': 'application/json', ...what.headers },
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (piece) => (text += piece))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        answer.on('error', reject)
      },
    )
    outgoing.on('error', reject)
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer from ${what.url}`)))
    outgoing.end(what.body === undefined ? undefined : JSON.stringify(what.body))
  })
}
