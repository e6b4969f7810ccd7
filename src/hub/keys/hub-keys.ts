/**
 * The hub's keys: the trust of the wire (root, document signer, transport CA; see wire/trust/hub-keys.ts) and a CA of
 * its own for the API, so that no agent's certificate ever opens the API and no person's ever passes for an agent.
 */
import { readdir } from 'node:fs/promises'
import { generateKeyPair, isEd25519 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { Stalled } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { jsonEqual } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { HubAuthority } from '../../plan/fleet/hub-health.ts'
import type { NewKeyPair } from '../../core/crypto/key-pair.ts'
import { issueCertificate, parseCertificate, selfSignedCa } from '../../core/crypto/x509.ts'
import type { CertificateAndKey, Subject } from '../../core/crypto/x509.ts'
import { amendTrust, createTrust, issueGatewayCertificate, loadTrust, TRUST_FILES } from '../../wire/trust/hub-keys.ts'
import type { HubTrust } from '../../wire/trust/hub-keys.ts'
import type { TokenKeys } from '../../apiserver/tokens/jwt.ts'
import type { DataDirectory } from '../home/data-directory.ts'
import { ensureDirectory, readFileIfExists, replaceFileAtomically } from '../home/atomic-files.ts'

/** All keys a hub starts with. */
export interface HubKeys {
  readonly trust: HubTrust
  readonly apiCa: CertificateAndKey
  /** For tokens of service accounts; the first one signs. */
  readonly tokenKeys: TokenKeys
}

/** What making keys and certificates needs. */
export interface KeyPorts {
  readonly clock: Clock
  readonly ids: Ids
  /** Real keys unless a simulation passes its own. */
  readonly newKeyPair?: NewKeyPair
}

/** What the trust bundle in force should say. */
export interface TrustSpec {
  readonly endpoints: readonly string[]
  readonly minAgentVersion: string
}

/** Minimum version of agents in a new trust bundle. */
export const MIN_AGENT_VERSION = '0.1.0'

const API_CA = { key: 'api-ca.key', certificate: 'api-ca.crt' } as const
const TOKEN_KEY = 'service-account-tokens.key'
/** The files that a hub needs. The root key is not among them. */
export const HUB_KEY_FILES: readonly string[] = [
  ...Object.values(TRUST_FILES).filter((name) => name !== TRUST_FILES.root),
  API_CA.key,
  API_CA.certificate,
  TOKEN_KEY,
]

const FOLDER = 'keys'
const RESTORE = { todo: 'restore the keys from your copy of them' } as const

const DAY_MS = 24 * 3_600_000
const CA_DAYS = 20 * 365
/** Clocks of others may be behind, so certificates begin earlier than they are issued. */
const BACKDATED_MS = DAY_MS
// Made anew at every start, and kept in memory only: a restart is all a renewal needs.
const LEAF_DAYS = 3 * 365
/** The administrator's certificate is a file that people copy. */
export const ADMIN_DAYS = 30

/** Fresh keys as files: name → text. */
export function createKeyFiles(wanted: TrustSpec, ports: KeyPorts): Record<string, string> {
  const { clock, ids, newKeyPair = generateKeyPair } = ports
  return {
    ...createTrust({ newKeyPair, now: clock.now(), serial: ids.bytes(16), ...wanted }),
    ...createApiCaFiles(ports),
    [TOKEN_KEY]: newKeyPair('ed25519').privateKey,
  }
}

/** The files of a fresh CA for the API. */
export function createApiCaFiles(ports: KeyPorts): Record<string, string> {
  const { privateKey, certificate } = createApiCa(ports)
  return { [API_CA.key]: privateKey, [API_CA.certificate]: certificate }
}

/** The keys of such files. */
export function readKeyFiles(files: Readonly<Record<string, string>>): HubKeys {
  const privateKey = files[API_CA.key]
  const certificate = files[API_CA.certificate]
  if (privateKey === undefined || certificate === undefined) {
    throw new Stalled('KeysMissing', `${API_CA.key} or ${API_CA.certificate} is missing`, RESTORE)
  }
  const tokenKeys = readTokenKeys(files[TOKEN_KEY])
  return { trust: loadTrust((name) => files[name]), apiCa: { privateKey, certificate }, tokenKeys }
}

/** The file has one PEM block per key: a new one goes on top, an old one goes when its tokens have ended. */
function readTokenKeys(text: string | undefined): TokenKeys {
  if (text === undefined) throw new Stalled('KeysMissing', `${TOKEN_KEY} is missing`, RESTORE)
  const [first, ...others] = text.match(/-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n?/g) ?? []
  if (first === undefined || [first, ...others].some((pem) => !isEd25519(pem))) {
    throw new Stalled('KeysMissing', `${TOKEN_KEY} must contain only Ed25519 private keys in PEM`, {
      todo: 'create a key with "openssl genpkey -algorithm ed25519"',
    })
  }
  return [first, ...others]
}

/** Loaded keys, and where a root that was just made lies. */
export interface LoadedKeys extends HubKeys {
  readonly newRoot?: string
}

/** The keys of a data directory, made at its first start; the trust bundle is amended when the endpoints changed. */
export async function loadHubKeys(directory: DataDirectory, wanted: TrustSpec, ports: KeyPorts): Promise<LoadedKeys> {
  const folder = directory.file(FOLDER)
  let isNew = false
  let files = await readFolder(folder)
  if (files === undefined) {
    isNew = true
    files = createKeyFiles(wanted, ports)
    await ensureDirectory(folder, files, ports.ids)
  }
  if (files[TOKEN_KEY] === undefined) {
    // Losing it only ends tokens that are out; people ask for new tokens.
    files[TOKEN_KEY] = (ports.newKeyPair ?? generateKeyPair)('ed25519').privateKey
    await replaceFileAtomically(directory.file(FOLDER, TOKEN_KEY), files[TOKEN_KEY], ports.ids)
  }
  const keys = readKeyFiles(files)
  if (isNew) return { ...keys, newRoot: directory.file(FOLDER, TRUST_FILES.root) }
  const { bundle } = keys.trust.newest
  if (jsonEqual(bundle.endpoints, wanted.endpoints)) return keys
  if (!keys.trust.rootSigner) {
    throw new Stalled(
      'RootKeyNeeded',
      `agents know this hub at ${bundle.endpoints.join(', ')}; a change to ${wanted.endpoints.join(', ')} requires the root key`,
      { todo: `put ${directory.file(FOLDER, TRUST_FILES.root)} back for this start, or use the old addresses` },
    )
  }
  const bundles = amendTrust(keys.trust, { endpoints: [...wanted.endpoints] }, ports.clock.now())
  await replaceFileAtomically(directory.file(FOLDER, TRUST_FILES.bundles), bundles, ports.ids)
  return readKeyFiles({ ...files, [TRUST_FILES.bundles]: bundles })
}

/**
 * The keys of a directory that the hub only reads, as several hubs share it. Trust is made and changed elsewhere, where
 * the root key is.
 */
export async function readMountedKeys(folder: string, wanted: TrustSpec): Promise<LoadedKeys> {
  const keys = await readKeysIn(folder)
  if (keys.trust.rootSigner) {
    throw new Stalled('BadConfig', 'the root key must not be among the keys of a hub', {
      where: `${folder}/${TRUST_FILES.root}`,
      todo: 'remove it there and keep it on the machine of an operator; "flotilla trust secret" leaves it out',
    })
  }
  const { endpoints } = keys.trust.newest.bundle
  const missing = wanted.endpoints.filter((endpoint) => !endpoints.includes(endpoint))
  if (missing.length === 0) return keys
  throw new Stalled(
    'RootKeyNeeded',
    `agents know this hub at ${endpoints.join(', ')}; a change to ${wanted.endpoints.join(', ')} requires the root key`,
    { todo: `run the hub with --gateway-url ${endpoints[0] ?? 'URL'}` },
  )
}

/** The CAs that the hub issues certificates with. With a kube-apiserver as home, the hub issues none for the API. */
export function hubAuthorities({ trust, apiCa }: HubKeys, isEmbedded: boolean): HubAuthority[] {
  const endOf = ({ certificate }: CertificateAndKey): string => formatTime(parseCertificate(certificate).notAfter)
  const transport: HubAuthority = { name: 'transport', notAfter: endOf(trust.transportCa) }
  if (!isEmbedded) return [transport]
  const createdAt = formatTime(parseCertificate(apiCa.certificate).notBefore + BACKDATED_MS)
  return [transport, { name: 'api', notAfter: endOf(apiCa), createdAt }]
}

/** The keys as they are on disk now; an error when they cannot be used. */
export async function readHubKeys(directory: Pick<DataDirectory, 'file'>): Promise<HubKeys> {
  return await readKeysIn(directory.file(FOLDER))
}

/** The keys of a folder; an error when they cannot be used. */
export async function readKeysIn(folder: string): Promise<HubKeys> {
  const files = await readFolder(folder)
  if (!files) throw new Stalled('KeysMissing', 'the keys directory is missing', { where: folder, ...RESTORE })
  return readKeyFiles(files)
}

async function readFolder(folder: string): Promise<Record<string, string> | undefined> {
  let names: string[]
  try {
    names = await readdir(folder)
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught && caught.code === 'ENOENT') return undefined
    throw caught
  }
  const files: Record<string, string> = {}
  for (const name of names) {
    // A mounted Secret has its files by way of folders with such names.
    if (name.startsWith('..')) continue
    const text = await readFileIfExists(`${folder}/${name}`)
    if (text !== undefined) files[name] = text
  }
  return files
}

/** The API server's certificate for these names. */
export function issueApiServerCertificate(keys: HubKeys, names: readonly string[], ports: KeyPorts): CertificateAndKey {
  return issueLeaf(
    keys.apiCa,
    { subject: { commonName: 'flotilla API', organizations: [] }, kind: 'server', sans: names },
    ports,
  )
}

/** A client's certificate for the API: the common name is the user, organisations are groups. */
export function issueApiClientCertificate(keys: HubKeys, subject: Subject, ports: KeyPorts): CertificateAndKey {
  return issueLeaf(keys.apiCa, { subject, kind: 'client' }, ports)
}

/** The administrator's certificate for the API. */
export function issueAdminCertificate(keys: HubKeys, subject: Subject, ports: KeyPorts): CertificateAndKey {
  return issueLeaf(keys.apiCa, { subject, kind: 'client', days: ADMIN_DAYS }, ports)
}

/** The gateway's certificate for these names. */
export function issueGatewayListenerCertificate(
  keys: HubKeys,
  names: readonly string[],
  ports: KeyPorts,
): CertificateAndKey {
  const { clock, ids, newKeyPair = generateKeyPair } = ports
  const { privateKey, publicKey } = newKeyPair('p256')
  const request = { publicKey, sans: names, serial: ids.bytes(16), now: clock.now() }
  return { privateKey, certificate: issueGatewayCertificate(keys.trust.transportCa, request) }
}

interface Leaf {
  readonly subject: Subject
  readonly kind: 'server' | 'client'
  readonly sans?: readonly string[]
  readonly days?: number
}

function issueLeaf(ca: CertificateAndKey, { days = LEAF_DAYS, ...leaf }: Leaf, ports: KeyPorts): CertificateAndKey {
  const { clock, ids, newKeyPair = generateKeyPair } = ports
  const { privateKey, publicKey } = newKeyPair('p256')
  const now = clock.now()
  const certificate = issueCertificate({
    ...leaf,
    publicKey,
    serial: ids.bytes(16),
    notBefore: now - BACKDATED_MS,
    notAfter: now + days * DAY_MS,
    issuer: ca,
  })
  return { certificate, privateKey }
}

function createApiCa({ clock, ids, newKeyPair = generateKeyPair }: KeyPorts): CertificateAndKey {
  const { privateKey } = newKeyPair('p256')
  const now = clock.now()
  const certificate = selfSignedCa({
    subject: { commonName: 'flotilla API CA', organizations: [] },
    privateKey,
    serial: ids.bytes(16),
    notBefore: now - BACKDATED_MS,
    notAfter: now + CA_DAYS * DAY_MS,
  })
  return { privateKey, certificate }
}
