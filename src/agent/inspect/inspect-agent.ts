// Tested by src/cli/checks/agent-checks.test.ts
/**
 * Facts about an agent on its machine, for `flotilla check --agent`. Only reads, and never uses the agent's identity.
 */
import { readFile, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { readKubeconfig } from '../../client/kubeconfig.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { VERSION } from '../../core/version.ts'
import { parseCertificate, wasIssuedBy } from '../../core/crypto/x509.ts'
import type {
  AgentFacts,
  ClusterRights,
  DataFacts,
  DocumentFacts,
  GatewayFacts,
  IdentityFacts,
} from '../../plan/fleet/agent-diagnostics.ts'
import type { VerifiedTrust } from '../../wire/trust/trust-bundle.ts'
import { isOlderVersion } from '../../wire/trust/agent-version.ts'
import { FEATURES } from '../../wire/document/signed-document.ts'
import { readDocument, readRefusal } from '../documents/document-file.ts'
import { loadIdentity, loadTransport, loadTrustFile } from '../link/identity.ts'
import { inspectGateway } from './inspect-gateway.ts'
import { inspectRights } from './inspect-rights.ts'
import type { ProxyVariables } from '../link/proxy.ts'
import type { AgentStorage } from '../storage/storage.ts'

/** The installation of an agent. */
export interface AgentInstallation {
  readonly dataDir: string
  /** The kubeconfig of the agent, whose rights are checked. */
  readonly kubeconfig: string
  readonly context?: string
  readonly proxyVariables: ProxyVariables
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Collects the facts about an agent. */
export async function inspectAgent(place: AgentInstallation): Promise<AgentFacts> {
  const { dataDir } = place
  const data = await inspectData(dataDir)
  const storage = readOnlyStorage(dataDir)
  const known = data.trouble === undefined ? await readIdentity(storage) : {}
  const { facts = {}, endpoints = [], root, trust } = known
  const gateways: GatewayFacts[] = []
  for (const endpoint of endpoints) gateways.push(await inspectGateway(endpoint, { ...place, root: root!, trust }))
  return {
    version: VERSION,
    data,
    identity: facts,
    gateways,
    document: await inspectDocument(storage, known),
    cluster: await inspectCluster(place),
  }
}

async function inspectData(folder: string): Promise<DataFacts> {
  try {
    const found = await stat(folder)
    if (!found.isDirectory()) return { folder, trouble: 'not a directory' }
    const { bavail, bsize } = await statfs(folder)
    return { folder, isOpen: (found.mode & 0o077) !== 0, freeBytes: bavail * bsize }
  } catch (caught) {
    return { folder, trouble: toError(caught).message }
  }
}

/** The agent may be running: nothing is written. */
function readOnlyStorage(folder: string): AgentStorage {
  return {
    read: async (name) => {
      try {
        return new Uint8Array(await readFile(join(folder, name)))
      } catch (caught) {
        if (isObject(caught) && caught['code'] === 'ENOENT') return undefined
        throw caught
      }
    },
    write: async (name) => {
      throw new Error(`${name} is only read here`)
    },
  }
}

interface KnownIdentity {
  readonly facts?: IdentityFacts
  readonly endpoints?: readonly string[]
  readonly root?: Awaited<ReturnType<typeof loadIdentity>>['root']
  readonly trust?: VerifiedTrust
  readonly rootKey?: NonNullable<Awaited<ReturnType<typeof loadTrustFile>>>['root']
}

async function readIdentity(storage: AgentStorage): Promise<KnownIdentity> {
  try {
    const { root, endpoints, clusterId, clusterName } = await loadIdentity(storage, { newKeyPair: noKeys })
    const kept = await loadTrustFile(storage, root)
    const transport = await loadTransport(storage)
    const bundle = kept?.trust.bundle
    const certificate = transport && {
      endsMs: parseCertificate(transport.certificate).notAfter,
      renewMs: transport.renewAt,
      isOfHub: (bundle?.transportCas ?? []).some((ca) => wasIssuedBy(transport.certificate, ca)),
    }
    const trust = bundle && {
      version: bundle.version,
      leastVersion: bundle.minAgentVersion,
      isTooOld: isOlderVersion(VERSION, bundle.minAgentVersion),
    }
    const facts = {
      root,
      ...compact({ clusterId, clusterName, trust, certificate }),
    }
    const verified = kept ? { trust: kept.trust, rootKey: kept.root } : {}
    return { facts, root, endpoints: bundle?.endpoints ?? endpoints, ...verified }
  } catch (caught) {
    return { facts: { trouble: toError(caught).message } }
  }
}

function noKeys(): never {
  throw new Error('keys are not made here')
}

async function inspectDocument(storage: AgentStorage, { rootKey }: KnownIdentity): Promise<DocumentFacts> {
  try {
    const found = rootKey && (await readDocument(storage, rootKey))
    const refusal = await readRefusal(storage)
    return compact({ held: found && describeHeld(found.document), refusal })
  } catch (caught) {
    return { trouble: toError(caught).message }
  }
}

function describeHeld(document: {
  readonly epoch: number
  readonly revision: number
  readonly requires: readonly string[]
}) {
  const lacking = document.requires.filter((feature) => !FEATURES.includes(feature))
  return { epoch: document.epoch, revision: document.revision, lacking }
}

async function inspectCluster({ kubeconfig, context, clock, signal }: AgentInstallation): Promise<ClusterRights> {
  try {
    const { connection } = await readKubeconfig({
      text: await readFile(kubeconfig, 'utf8'),
      file: kubeconfig,
      readFile: (path) => readFile(path, 'utf8'),
      ...compact({ context }),
    })
    const opened = createUndiciTransport(connection)
    try {
      return await inspectRights({ transport: opened.transport, server: connection.server, clock, signal })
    } finally {
      await opened.close()
    }
  } catch (caught) {
    return { server: kubeconfig, trouble: toError(caught).message }
  }
}
