// Tested by src/hub/run.contract.test.ts
/**
 * Opens the hub's home: the embedded API server in a thread of its own, or a kube-apiserver, with Flotilla's kinds in
 * it.
 */
import { hostname } from 'node:os'
import { readFile } from 'node:fs/promises'
import type { Client } from '../../client/client.ts'
import type { Connection } from '../../client/connection.ts'
import { clientOver } from '../../client/create-client.ts'
import { createRest } from '../../client/rest.ts'
import type { Rest } from '../../client/rest.ts'
import { kubeconfigFor, readKubeconfig } from '../../client/kubeconfig.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { compact } from '../../core/compact.ts'
import { toError } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import { VERSION } from '../../core/version.ts'
import { writeYaml } from '../../yaml/write/write-yaml.ts'
import { readOidcSettings } from './oidc-config.ts'
import { announceHub } from '../compose/compose-controllers.ts'
import type { HubConfig } from '../config.ts'
import { replaceFileAtomically } from '../home/atomic-files.ts'
import type { DataDirectory } from '../home/data-directory.ts'
import { servedDialects } from '../home/dialect-names.ts'
import { installDialects } from '../home/dialects.ts'
import { installFirstProjects } from '../home/first-projects.ts'
import { installKinds, installPolicies, installRoles } from '../home/kube-home.ts'
import { certificateNames, formatAddress, isWildcard, parseAddress } from '../http/listen-address.ts'
import { findAgentBundle } from '../join/agent-bundle.ts'
import { issueApiClientCertificate, issueApiServerCertificate } from '../keys/hub-keys.ts'
import type { HubKeys, LoadedKeys } from '../keys/hub-keys.ts'
import { DATABASE_FILE, loadSealingKeys } from '../keys/sealing-keys.ts'
import { notReadyReason } from '../../plan/fleet/hub-health.ts'
import type { MeasuredThread } from '../metrics/metrics-page.ts'
import { HUB_USERS } from '../ports.ts'
import { startThread, THREAD_LIMITS } from '../threads/thread.ts'
import { keepAdminKubeconfig, writeAdminKubeconfig } from './admin-kubeconfig.ts'
import type { Starting } from './starting.ts'

export type HubUser = (typeof HUB_USERS)[keyof typeof HUB_USERS]

/** The API of a home, and how the users of the hub reach it. */
interface HomeApi {
  readonly server: string
  as(user: HubUser): Connection
  /** Gives the listener of the API a new certificate. */
  renew(keys: HubKeys, signal: AbortSignal): Promise<void>
  /** Threads of the home on this machine. */
  readonly threads: readonly MeasuredThread[]
  /** Whether several hubs may share the home, so that one must lead. */
  readonly isShared: boolean
}

export interface Home extends HomeApi {
  /** File with the administrator's kubeconfig. */
  readonly kubeconfig: string
  /** The API as the controllers' user. */
  readonly client: Client
  readonly rest: Rest
  /** A new client as this user; closed with the hub. */
  clientFor(user: HubUser): Client
  readonly agentBundle: Awaited<ReturnType<typeof findAgentBundle>>
}

/** Opens the home and installs what the hub needs in it. */
export async function openHome(
  config: HubConfig,
  { directory, keys }: { readonly directory: DataDirectory; readonly keys: LoadedKeys },
  starting: Starting,
): Promise<Home> {
  const { clock, ids, life, log, closeLater } = starting
  const api =
    config.kubeconfig === undefined
      ? await startEmbeddedHome(config, { directory, keys }, starting)
      : await openKubeHome(config.kubeconfig, config.context)
  const admin = api.as(HUB_USERS.admin)
  const kubeconfig = directory.file('admin.kubeconfig')
  if (config.kubeconfig === undefined) {
    const { log } = starting
    const options = { clock, ids, log, file: kubeconfig, server: api.server, keys: () => keys }
    await writeAdminKubeconfig(options)
    const keeping = keepAdminKubeconfig(options, life)
    closeLater(() => keeping)
  } else {
    await replaceFileAtomically(kubeconfig, writeYaml(kubeconfigFor('flotilla', { ...admin, user: 'admin' })), ids)
  }

  const restFor = (user: HubUser): Rest => {
    const { transport, close } = createUndiciTransport(user === HUB_USERS.admin ? admin : api.as(user))
    closeLater(close)
    return createRest({ transport, clock, userAgent: `flotilla/${VERSION} (${user.commonName})` })
  }
  const clientFor = (user: HubUser): Client => clientOver(restFor(user))
  const rest = restFor(HUB_USERS.controllers)
  const client = clientOver(rest)
  // On a kube-apiserver both are the user of the hub's kubeconfig.
  const installer = clientFor(HUB_USERS.admin)
  if (config.kubeconfig !== undefined) {
    await installKinds(installer, clock, life)
    await installRoles(installer, life)
  }
  await installPolicies(installer, life)
  const controllers = config.kubeconfig === undefined ? { controllers: client } : {}
  const added = await installDialects(servedDialects(config), {
    client: installer,
    ...controllers,
    clock,
    signal: life,
  })
  if (added.length > 0 && config.dialects === undefined && keys.newRoot === undefined) {
    log.warn(
      { dialects: added },
      'since its upgrade, this hub also serves the kinds of these other systems; --dialects none turns them off',
    )
  }
  const agentBundle = await findAgentBundle()
  await announceHub(installer, keys.trust, compact({ agentBundle: agentBundle?.digest, agentImage: config.agentImage }))
  const migrated = await installFirstProjects({ client: installer, signal: life })
  if (migrated.length > 0) {
    log.warn(
      { namespaces: migrated },
      'the upgrade made a Project with everything allowed for each of these namespaces',
    )
  }
  return { ...api, kubeconfig, rest, client, clientFor, agentBundle }
}

async function startEmbeddedHome(
  config: HubConfig,
  { directory, keys }: { readonly directory: DataDirectory; readonly keys: HubKeys },
  starting: Starting,
): Promise<HomeApi> {
  const listen = parseAddress(config.listen)
  const names = certificateNames([listen.host, hostname()])
  const init = {
    listen,
    database: directory.file(DATABASE_FILE),
    blobs: directory.file('blobs'),
    sealingKeys: await loadSealingKeys(directory, starting.ids),
    server: issueApiServerCertificate(keys, names, starting),
    clientCa: keys.apiCa.certificate,
    tokenKeys: keys.tokenKeys,
    ...compact({ oidc: await readOidcSettings(config) }),
    dialects: servedDialects(config),
    logLevel: config.logLevel,
  }
  const { supervisor, life, log } = starting
  const api = await supervisor.keepThread('api', {
    // A later thread opens the same database and listens on the same port: clients need no new address.
    start: (settings, first) =>
      startThread('api', { ...init, ...settings, listen: { ...listen, ...first } }, THREAD_LIMITS.api),
  })
  starting.closeLater(() => api.close())
  let server = init.server
  const settings = () => ({ server, notReady: notReadyReason(supervisor.health()) })
  supervisor.onChange(() => {
    api.tell(settings(), life).catch((caught: unknown) => {
      if (!life.aborted) log.warn({ err: toError(caught) }, 'the API was not told whether the hub is ready')
    })
  })
  const host = isWildcard(listen.host) ? '127.0.0.1' : listen.host
  const url = `https://${formatAddress({ host, port: api.ready.port })}`
  return {
    server: url,
    threads: [{ name: 'api', metrics: api.metrics }],
    isShared: false,
    renew: async (next, signal) => {
      server = issueApiServerCertificate(next, names, starting)
      await api.tell(settings(), signal)
    },
    as: (user) => {
      const { certificate, privateKey } = issueApiClientCertificate(keys, user, starting)
      return { server: url, ca: keys.apiCa.certificate, cert: certificate, key: new Secret(privateKey) }
    },
  }
}

async function openKubeHome(file: string, context: string | undefined): Promise<HomeApi> {
  const { connection } = await readKubeconfig({
    text: await readFile(file, 'utf8'),
    file,
    ...(context !== undefined && { context }),
    readFile: (path) => readFile(path, 'utf8'),
  })
  return { server: connection.server, threads: [], isShared: true, renew: async () => {}, as: () => connection }
}
