/**
 * `view.flotilla.dev` on a home that is a kube-apiserver: an aggregated API. The kube-apiserver passes requests for
 * the group on to this hub, says who asks, and is asked who may do what.
 *
 *     kubectl ──▶ kube-apiserver ──front proxy──▶ view thread ──SubjectAccessReview──▶ kube-apiserver
 */
import { hostname } from 'node:os'
import type { Client } from '../../client/client.ts'
import { base64, utf8 } from '../../core/bytes.ts'
import { findCondition } from '../../core/conditions.ts'
import { isApiError, toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { VIEW_GROUP } from '../../kinds/views/define-view.ts'
import type { Condition, KubeObject, ResourceType } from '../../kinds/meta.ts'
import { formatAddress, isLoopback, reachableHost } from '../http/listen-address.ts'
import type { ListenAddress } from '../http/listen-address.ts'
import { SYSTEM_NAMESPACE } from '../home/hub-info.ts'
import { issueApiServerCertificate } from '../keys/hub-keys.ts'
import type { HubKeys } from '../keys/hub-keys.ts'
import type { HubPorts } from '../ports.ts'
import type { ViewInit } from '../threads/messages.ts'
import type { KeptThread, Supervisor } from '../threads/supervisor.ts'
import { startThread, THREAD_LIMITS } from '../threads/thread.ts'
import { FRONT_PROXY_CONFIG, readFrontProxy } from './front-proxy.ts'
import type { FrontProxy } from './front-proxy.ts'

interface ApiService extends KubeObject {
  spec: object
  status?: { conditions?: Condition[] }
}

const API_SERVICE: ResourceType<ApiService> = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  scope: 'Cluster',
}

interface Service extends KubeObject {
  spec: { type: string; externalName: string; ports: { port: number }[] }
}

const SERVICE: ResourceType<Service> = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  scope: 'Namespaced',
}

const VERSION = 'v1alpha1'
const API_SERVICE_NAME = `${VERSION}.${VIEW_GROUP}`
const SERVICE_NAME = 'flotilla-view'
const IN_CLUSTER = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc$/
const AVAILABLE_MS = 30_000
const POLL_MS = 500
const REFRESH_MS = 60_000

/** What serving views beside a home needs. */
export interface AggregatedApiOptions extends HubPorts, Pick<ViewInit, 'api' | 'blobs' | 'dialects' | 'logLevel'> {
  readonly client: Client
  /** `https://…` of the home. */
  readonly home: string
  readonly listen: ListenAddress
  readonly url: string | undefined
  readonly keys: HubKeys
  readonly supervisor: Pick<Supervisor, 'keepThread'>
}

/** Views that are served; they are found through the home once they are registered. */
export interface AggregatedApi {
  readonly thread: KeptThread<'view'>
  /** Tells the home where to find them, and follows changes of its front proxy until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
  /** Gives the listener a new certificate. */
  renew(keys: HubKeys, signal: AbortSignal): Promise<void>
  /** Tells the home that they are no longer served. */
  withdraw(): Promise<void>
}

/**
 * Starts to serve; undefined, with a line in the log, where the home passes nothing on to others or cannot reach this
 * hub.
 */
export async function startAggregatedApi(options: AggregatedApiOptions): Promise<AggregatedApi | undefined> {
  const { client, clock, log, listen, url } = options
  const skip = (why: string): undefined => {
    log.info({ listen: formatAddress(listen) }, `${VIEW_GROUP} is not served: ${why}`)
  }
  if (url === undefined && isLoopback(listen.host) && !isLoopback(new URL(options.home).hostname)) {
    return skip('the kube-apiserver cannot reach a loopback address here; give --listen and --view-url')
  }
  let proxy = await readPublished(client)
  if (!proxy) return skip('the kube-apiserver names no front proxy (--requestheader-client-ca-file)')
  const host = url === undefined ? reachableHost(listen.host, hostname()) : new URL(url).hostname
  const [, service, namespace] = IN_CLUSTER.exec(host) ?? [undefined, SERVICE_NAME, SYSTEM_NAMESPACE]
  // The kube-apiserver asks for the Service's name, wherever it connects.
  const names = [`${service}.${namespace}.svc`]
  let server = issueApiServerCertificate(options.keys, names, options)
  const { api, blobs, dialects, logLevel } = options
  const init = { listen, keys: { server, proxy }, api, blobs, dialects, logLevel }
  const thread = await options.supervisor.keepThread('view', {
    start: (keys = init.keys, first) =>
      startThread('view', { ...init, keys, listen: { ...listen, ...first } }, THREAD_LIMITS.view),
  })
  const port = url === undefined ? thread.ready.port : Number(new URL(url).port || 443)
  const isOwnService = service === SERVICE_NAME && namespace === SYSTEM_NAMESPACE && !IN_CLUSTER.test(host)
  const apply = { fieldManager: 'flotilla-hub', force: true }
  let isRegistered = false

  async function register(signal: AbortSignal): Promise<void> {
    if (isOwnService) {
      const spec = { type: 'ExternalName', externalName: host, ports: [{ port }] }
      const metadata = { name: SERVICE_NAME, namespace: SYSTEM_NAMESPACE }
      await client.apply(SERVICE, { apiVersion: 'v1', kind: 'Service', metadata, spec }, { ...apply, signal })
    }
    const spec = {
      group: VIEW_GROUP,
      version: VERSION,
      // Below the 1000 of CustomResourceDefinitions: `kubectl get manifestworks` means the kind that is stored.
      groupPriorityMinimum: 900,
      versionPriority: 15,
      caBundle: base64(utf8(options.keys.apiCa.certificate)),
      service: { namespace, name: service, port },
    }
    const object = {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: API_SERVICE_NAME },
      spec,
    }
    isRegistered = true
    await client.apply(API_SERVICE, object, { ...apply, signal })
    await becomeAvailable(signal)
  }

  /** Removes the APIService: a registered group that does not answer slows down discovery for all clients. */
  async function becomeAvailable(signal: AbortSignal): Promise<void> {
    const until = clock.monotonicMs() + AVAILABLE_MS
    for (;;) {
      const { status } = await client.get(API_SERVICE, { name: API_SERVICE_NAME }, signal)
      const available = findCondition(status?.conditions, 'Available')
      if (available?.status === 'True') return
      if (clock.monotonicMs() > until) {
        await withdraw()
        const why = available?.message ?? 'nothing is known yet'
        log.warn(
          { url: `https://${formatAddress({ host, port })}` },
          `${VIEW_GROUP} is not served: ${why}; the kube-apiserver must reach this address: see --listen and --view-url`,
        )
        return
      }
      await clock.sleep(POLL_MS, signal)
    }
  }

  /** Unless another hub has taken over since. */
  async function withdraw(): Promise<void> {
    if (!isRegistered || !isOwnService) return
    isRegistered = false
    try {
      const { spec } = await client.get(SERVICE, { namespace: SYSTEM_NAMESPACE, name: SERVICE_NAME })
      if (spec.externalName !== host || spec.ports[0]?.port !== port) return
      await client.delete(API_SERVICE, { name: API_SERVICE_NAME })
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) log.warn({ err: toError(caught) }, `${VIEW_GROUP} could not be withdrawn`)
    }
  }

  async function refresh(signal: AbortSignal): Promise<void> {
    const published = await readPublished(client)
    if (!published || jsonEqual(published, proxy)) return
    proxy = published
    await thread.tell({ server, proxy }, signal)
  }

  return {
    thread,
    async run(signal) {
      let isDone = false
      while (!signal.aborted) {
        try {
          if (!isDone) await register(signal)
          isDone = true
          await refresh(signal)
        } catch (caught) {
          if (!signal.aborted) log.warn({ err: toError(caught) }, `${VIEW_GROUP} could not be registered`)
        }
        await clock.sleep(REFRESH_MS, signal).catch(() => {}) // aborted: the loop ends
      }
    },
    async renew(keys, signal) {
      server = issueApiServerCertificate(keys, names, options)
      await thread.tell({ server, proxy: proxy! }, signal)
    },
    withdraw,
  }
}

async function readPublished(client: Client): Promise<FrontProxy | undefined> {
  try {
    return readFrontProxy((await client.get(ConfigMap, FRONT_PROXY_CONFIG)).data ?? {})
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  }
}
