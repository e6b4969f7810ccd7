/**
 * Repository Secrets of Argo CD as credentials of Sources. The Secret of a repository counts before the template
 * (`repo-creds`) with the longest address; both count in their own namespace alone. The hub copies what a Source needs
 * into a Secret that is bound to the address of that Source.
 */
import { base64, fromBase64, fromUtf8, utf8 } from '../../../core/bytes.ts'
import { compact } from '../../../core/compact.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import type { ConfigMap, Secret } from '../../../kinds/builtin/core.ts'
import type { KubeObject, OwnerReference } from '../../../kinds/meta.ts'
import { URLS_ANNOTATION } from '../../../source/credentials.ts'
import { COMPILED } from '../annotations.ts'
import { normalizeGitUrl } from '../projects/git-url.ts'

/** The label of Argo CD's Secrets. */
export const SECRET_TYPE = 'argocd.argoproj.io/secret-type'
/** The label of the Secrets that the hub makes. */
export const DERIVED = 'argocd.argoproj.io/flotilla-repository'
/** The ConfigMap with the keys of ssh servers, and its key. */
const KNOWN_HOSTS = { name: 'argocd-ssh-known-hosts-cm', key: 'ssh_known_hosts' }
/** The ConfigMap with the certificates of servers by host. */
const TLS_CERTS = 'argocd-tls-certs-cm'

/** Secrets and ConfigMaps of a namespace that credentials come from. */
export interface RepositoryObjects {
  readonly secrets: readonly Secret[]
  readonly configMaps: readonly ConfigMap[]
}

/** The credentials of one repository. */
export interface RepositoryAccess {
  /** The Secret for `spec.credentials` of the Source. */
  readonly secret: Secret
  /** Whether Applications of other AppProjects get other credentials. */
  readonly isScoped: boolean
  /** Settings of the user's Secret without an effect. */
  readonly notes: readonly string[]
}

/** What is known about a repository: its credentials, why they cannot be used, or undefined when it needs none. */
export type AccessAnswer = RepositoryAccess | { readonly problem: string } | undefined

/** The credentials for an address of a Source and an AppProject. */
export function repositoryAccess(url: string, project: string, objects: RepositoryObjects): AccessAnswer {
  const found = chooseSecret(url, project, objects.secrets)
  const read = found ? readSecret(found) : { data: {}, notes: [] }
  if ('problem' in read) return read
  const host = hostOf(url)
  const knownHosts = dataOf(objects, KNOWN_HOSTS.name)[KNOWN_HOSTS.key]
  const ca = dataOf(objects, TLS_CERTS)[host]
  const data = compact({
    ...read.data,
    githubAppInstallationOwner: installationOwner(url, read.data),
    known_hosts: read.data['ssh-privatekey'] === undefined ? undefined : knownHosts,
    'ca.crt': ca,
  })
  const owner = found ?? objects.configMaps.find(({ metadata }) => metadata.name === TLS_CERTS)
  if (!owner || Object.keys(data).length === 0) return undefined
  return {
    secret: derivedSecret(owner, found ? 'Secret' : 'ConfigMap', url, data),
    isScoped: found !== undefined && fieldOf(found, 'project') !== '',
    notes: read.notes,
  }
}

/** As in Argo CD, an App without the number of an installation uses that of the owner of the repository. */
function installationOwner(url: string, data: Readonly<Record<string, string>>): string | undefined {
  if (data['githubAppPrivateKey'] === undefined || data['githubAppInstallationID'] !== undefined) return undefined
  return /^https:\/\/[^/]+\/([^/]+)\/[^/]/i.exec(url)?.[1]
}

/** The Secret of the repository, or else the template with the longest address. */
function chooseSecret(url: string, project: string, secrets: readonly Secret[]): Secret | undefined {
  const wanted = comparable(url)
  const isOpen = (secret: Secret): boolean => ['', project].includes(fieldOf(secret, 'project'))
  const fits = secrets
    .filter(isOpen)
    .map((secret) => ({ secret, type: secret.metadata.labels?.[SECRET_TYPE], at: comparable(fieldOf(secret, 'url')) }))
    .filter(({ at }) => at !== '')
    // A Secret of the project comes before a Secret for all projects; then the order of names decides.
    .toSorted((a, b) => rank(a.secret) - rank(b.secret) || (a.secret.metadata.name < b.secret.metadata.name ? -1 : 1))
  const own = fits.find(({ type, at, secret }) => type === 'repository' && isOf(wanted, at, secret))
  if (own && hasCredentials(own.secret)) return own.secret
  const [template] = fits
    .filter(({ type, at }) => type === 'repo-creds' && isBelow(wanted, at))
    .toSorted((a, b) => b.at.length - a.at.length)
  return template?.secret ?? own?.secret
}

function rank(secret: Secret): number {
  return fieldOf(secret, 'project') === '' ? 1 : 0
}

/** A registry holds charts below its address; a git repository and a chart repository are their address. */
function isOf(wanted: string, at: string, secret: Secret): boolean {
  return wanted === at || (fieldOf(secret, 'enableOCI') === 'true' && isBelow(wanted, at))
}

/** Whole path segments are compared: credentials for `/acme` are not sent to `/acme-other`. */
function isBelow(wanted: string, at: string): boolean {
  return wanted === at || wanted.startsWith(at.endsWith('/') ? at : `${at}/`)
}

function comparable(url: string): string {
  return normalizeGitUrl(url.replace(/^oci:\/\//i, '').replace(/\/+$/, ''))
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  username: 'username',
  password: 'password',
  bearerToken: 'token',
  sshPrivateKey: 'ssh-privatekey',
  tlsClientCertData: 'tls.crt',
  tlsClientCertKey: 'tls.key',
  githubAppID: 'githubAppID',
  githubAppPrivateKey: 'githubAppPrivateKey',
  githubAppInstallationID: 'githubAppInstallationID',
  githubAppEnterpriseBaseUrl: 'githubAppBaseURL',
}
const NOT_SERVED: Readonly<Record<string, string>> = {
  gcpServiceAccountKey: 'a service account of Google Cloud',
  useAzureWorkloadIdentity: 'a workload identity of Azure',
}

function hasCredentials(secret: Secret): boolean {
  return [...Object.keys(CREDENTIALS), ...Object.keys(NOT_SERVED)].some((key) => fieldOf(secret, key) !== '')
}

function readSecret(
  secret: Secret,
): { readonly data: Record<string, string>; readonly notes: string[] } | { readonly problem: string } {
  const label = `Secret ${secret.metadata.name}`
  for (const [key, what] of Object.entries(NOT_SERVED)) {
    if (!['', 'false'].includes(fieldOf(secret, key)))
      return { problem: `${label}: ${key} (${what}) is not served; use username and password, or sshPrivateKey` }
  }
  const notes: string[] = []
  for (const key of ['insecure', 'insecureIgnoreHostKey']) {
    if (fieldOf(secret, key) === 'true')
      notes.push(
        `${key} of ${label} has no effect: servers are always verified; add their certificate to ConfigMap ${TLS_CERTS}, or their ssh key to ConfigMap ${KNOWN_HOSTS.name}`,
      )
  }
  for (const key of ['proxy', 'enableLfs']) {
    if (!['', 'false'].includes(fieldOf(secret, key))) notes.push(`${key} of ${label} has no effect`)
  }
  const data: Record<string, string> = {}
  for (const [key, as] of Object.entries(CREDENTIALS)) {
    const value = fieldOf(secret, key)
    // git and ssh refuse a key without its last newline.
    if (value !== '') data[as] = as === 'ssh-privatekey' && !value.endsWith('\n') ? `${value}\n` : value
  }
  return { data, notes }
}

function derivedSecret(
  owner: KubeObject,
  kind: string,
  url: string,
  data: Readonly<Record<string, string | undefined>>,
): Secret {
  const { name, namespace = '', uid = '' } = owner.metadata
  const encoded = Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => (value === undefined ? [] : [[key, base64(utf8(value))]])),
  )
  const urls = url.startsWith('oci://') || /^[a-z]+:\/\//i.test(url) || url.includes('@') ? url : `https://${url}`
  const reference: OwnerReference = { apiVersion: 'v1', kind, name, uid }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `argo-repository-${digestOfJson({ kind, name, url }).slice(7, 19)}`,
      namespace,
      labels: { [DERIVED]: 'true' },
      annotations: { [URLS_ANNOTATION]: urls, [COMPILED]: digestOfJson({ data: encoded, urls, uid }) },
      ownerReferences: [reference],
    },
    type: 'Opaque',
    data: encoded,
  }
}

/** The host of an address, without user and port. */
function hostOf(url: string): string {
  return /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^/:]*)/i.exec(url)?.[1]?.toLowerCase() ?? ''
}

function dataOf({ configMaps }: RepositoryObjects, name: string): Readonly<Record<string, string>> {
  return configMaps.find(({ metadata }) => metadata.name === name)?.data ?? {}
}

/** A field of a Secret as text; '' when it is missing or no text. */
export function fieldOf({ data = {} }: Secret, key: string): string {
  const value = data[key]
  if (value === undefined) return ''
  try {
    return fromUtf8(fromBase64(value))
  } catch {
    return ''
  }
}
