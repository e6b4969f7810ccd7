/**
 * The agent inside a cluster: the image of the agent, or a stock Node image that takes the agent's bundle from the hub
 * by digest. The chart charts/flotilla-agent makes the same objects from the image; a test compares.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import { writeYaml } from '../../yaml/write/write-yaml.ts'
import { ROUTES } from '../../wire/link/frames.ts'
import { agentRbac } from './agent-rbac.ts'
import type { AgentProfile } from './agent-rbac.ts'

/** What a manifest is made for. */
export interface JoinManifestOptions {
  readonly code: string
  readonly endpoints: readonly string[]
  readonly agent: AgentProgram
  /** `http://host:port` of the proxy between the cluster and the hub. */
  readonly proxy?: string
  /**
   * The code is for several names: each cluster says its own in ConfigMap flotilla-cluster, and the pod waits for it.
   */
  readonly isForSeveral?: boolean
  /** What the agent may do in its cluster; everything unless told. */
  readonly profile?: AgentProfile
  /** With profile `namespaced`: where it may work. */
  readonly namespaces?: readonly string[]
}

/** Where the program of the agent comes from. */
export type AgentProgram = { readonly image: string } | { readonly bundle: Digest }

const NAMESPACE = 'flotilla-agent'
const NODE_IMAGE = 'node:26-slim'
/** Where a cluster says its name to a manifest that is for several: ConfigMap and key. */
const NAME_CONFIG_MAP = { name: 'flotilla-cluster', key: 'name' } as const

const LABELS = { 'app.kubernetes.io/name': 'flotilla-agent' }

// The digest proves the program, so the hub's certificate need not be known yet.
const FETCH = `
const { createHash } = require('node:crypto')
const { writeFileSync } = require('node:fs')
const https = require('node:https')
const [digest, path, ...endpoints] = process.argv.slice(1)
const fetch = (at) => new Promise((resolve, reject) => {
  https.get(at + path + digest, { rejectUnauthorized: false, timeout: 30000 }, (response) => {
    const chunks = []
    response.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
    response.on('end', () => {
      const bytes = Buffer.concat(chunks)
      const found = 'sha256:' + createHash('sha256').update(bytes).digest('hex')
      if (found === digest) resolve(bytes)
      else reject(new Error(at + ' sent ' + found + ' (HTTP ' + response.statusCode + '), want ' + digest))
    })
  }).on('error', reject)
})
const main = async () => {
  for (const at of endpoints) {
    try { return writeFileSync('/opt/flotilla/agent.mjs', await fetch(at)) } catch (error) { console.error(String(error)) }
  }
  process.exit(1)
}
main()
`.trim()

// The pod's own service account as a kubeconfig, the one form of access the agent knows.
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
const IN_CLUSTER = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'in-cluster',
  clusters: [
    {
      name: 'in-cluster',
      cluster: { server: 'https://kubernetes.default.svc', 'certificate-authority': `${ACCOUNT}/ca.crt` },
    },
  ],
  users: [{ name: 'agent', user: { tokenFile: `${ACCOUNT}/token` } }],
  contexts: [{ name: 'in-cluster', context: { cluster: 'in-cluster', user: 'agent' } }],
}

// The agent's rights end there anyway; said here, a bundle hears why before anything is tried.
function ceilingOf(profile: AgentProfile, namespaces: readonly string[]): object {
  return profile === 'namespaced' ? { namespaces, clusterScoped: false } : {}
}

/** The YAML to apply to the cluster; it holds the join code, so treat it as a secret. */
export function joinManifest(options: JoinManifestOptions): string {
  const { code, endpoints, agent, profile = 'full', namespaces = [] } = options
  const join = { name: 'FLOTILLA_JOIN', valueFrom: { secretKeyRef: { name: 'flotilla-join', key: 'code' } } }
  const name = { name: 'FLOTILLA_NAME', valueFrom: { configMapKeyRef: NAME_CONFIG_MAP } }
  const proxy = options.proxy === undefined ? [] : [{ name: 'HTTPS_PROXY', value: options.proxy }]
  const metadata = (name: string) => ({ name, namespace: NAMESPACE, labels: LABELS })
  const security = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
  }
  const program = { name: 'program', mountPath: '/opt/flotilla' }
  const isFetched = 'bundle' in agent
  const image = isFetched ? NODE_IMAGE : agent.image
  const flags = [
    '--kubeconfig',
    '/etc/flotilla/kubeconfig',
    '--ceiling',
    '/etc/flotilla/ceiling.yaml',
    '--data',
    '/data/agent',
  ]
  const documents = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: LABELS } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata('flotilla-agent') },
    ...agentRbac({ profile, namespaces, home: NAMESPACE, account: 'flotilla-agent', labels: LABELS }),
    { apiVersion: 'v1', kind: 'Secret', metadata: metadata('flotilla-join'), stringData: { code } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadata('flotilla-agent'),
      data: { kubeconfig: writeYaml(IN_CLUSTER), 'ceiling.yaml': writeYaml(ceilingOf(profile, namespaces)) },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: metadata('flotilla-agent'),
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: metadata('flotilla-agent'),
      spec: {
        replicas: 1,
        // Two agents with one identity would be one too many.
        strategy: { type: 'Recreate' },
        selector: { matchLabels: LABELS },
        template: {
          metadata: { labels: LABELS },
          spec: {
            serviceAccountName: 'flotilla-agent',
            securityContext: {
              runAsNonRoot: true,
              runAsUser: 65532,
              fsGroup: 65532,
              seccompProfile: { type: 'RuntimeDefault' },
            },
            ...(isFetched && {
              initContainers: [
                {
                  name: 'fetch',
                  image,
                  command: ['node', '-e', FETCH, '--', agent.bundle, ROUTES.agentBundle, ...endpoints],
                  ...(proxy.length > 0 && { env: [...proxy, { name: 'NODE_USE_ENV_PROXY', value: '1' }] }),
                  volumeMounts: [program],
                  securityContext: security,
                },
              ],
            }),
            containers: [
              {
                name: 'agent',
                image,
                ...(isFetched ? { command: ['node', '/opt/flotilla/agent.mjs', ...flags] } : { args: flags }),
                env: [join, ...(options.isForSeveral ? [name] : []), ...proxy],
                // Rendering in the cluster may need much memory for a short time.
                resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '3Gi' } },
                volumeMounts: [
                  ...(isFetched ? [program] : []),
                  { name: 'tmp', mountPath: '/tmp' },
                  { name: 'data', mountPath: '/data' },
                  { name: 'config', mountPath: '/etc/flotilla', readOnly: true },
                ],
                securityContext: security,
              },
            ],
            volumes: [
              ...(isFetched ? [{ name: 'program', emptyDir: {} }] : []),
              { name: 'tmp', emptyDir: {} },
              { name: 'config', configMap: { name: 'flotilla-agent' } },
              { name: 'data', persistentVolumeClaim: { claimName: 'flotilla-agent' } },
            ],
          },
        },
      },
    },
  ]
  return documents.map((document) => writeYaml(document)).join('---\n')
}
