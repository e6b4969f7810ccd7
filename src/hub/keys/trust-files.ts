/** Changes of trust in a data directory, while its hub runs or not: a running hub reads them within seconds. */
import { access, mkdir, readdir, readFile } from 'node:fs/promises'
import { base64, generateKeyPair } from '../../core/bytes.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import { Stalled } from '../../core/errors.ts'
import { TRUST_FILES } from '../../wire/trust/hub-keys.ts'
import type { HubTrust } from '../../wire/trust/hub-keys.ts'
import { newEpoch, setMinAgentVersion, rotateCa, rotateSigner } from '../../wire/trust/rotate-keys.ts'
import type { FileChange, TrustChange } from '../../wire/trust/rotate-keys.ts'
import { ensureDirectory, readFileIfExists, replaceFileAtomically } from '../home/atomic-files.ts'
import { createKeyFiles, HUB_KEY_FILES, MIN_AGENT_VERSION, readHubKeys } from './hub-keys.ts'
import type { KeyPorts } from './hub-keys.ts'
import { KEY_FOLDER } from './sealing-keys.ts'

/** Where the keys are. */
export interface TrustLocation {
  /** The hub's data directory. */
  readonly data: string
  /** The file with the root's private key; the one in the data directory when absent. */
  readonly root?: string
}

/** Makes all keys in a new folder `keys` of this directory, for a hub that gets them by `trustSecret`. */
export async function createTrustFiles(
  data: string,
  endpoints: readonly string[],
  ports: KeyPorts,
): Promise<{ readonly trust: HubTrust; readonly root: string }> {
  const folder = `${data}/${KEY_FOLDER}`
  if (
    await access(folder).then(
      () => true,
      () => false,
    )
  ) {
    throw new Stalled('KeysExist', 'the directory has keys already', {
      where: folder,
      todo: 'give another directory with --data, or change these keys with "flotilla trust rotate"',
    })
  }
  await mkdir(data, { recursive: true, mode: 0o700 })
  const files = createKeyFiles({ endpoints, minAgentVersion: MIN_AGENT_VERSION }, ports)
  await ensureDirectory(folder, files, ports.ids)
  return { trust: await readTrust({ data }), root: `${folder}/${TRUST_FILES.root}` }
}

/** The Secret with the keys that hubs need, without the root key. */
export async function trustSecret(
  { data }: Pick<TrustLocation, 'data'>,
  metadata: { readonly name: string; readonly namespace: string },
): Promise<KubeObject & { readonly type: string; readonly data: Readonly<Record<string, string>> }> {
  const folder = `${data}/${KEY_FOLDER}`
  // What cannot be read back as keys is not passed on.
  await readTrust({ data })
  const names = (await readdir(folder)).filter((name) => HUB_KEY_FILES.includes(name)).toSorted()
  const entries = await Promise.all(
    names.map(async (name) => [name, base64(await readFile(`${folder}/${name}`))] as const),
  )
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: Object.fromEntries(entries) }
}

/** The trust of a data directory. */
export async function readTrust({ data }: Pick<TrustLocation, 'data'>): Promise<HubTrust> {
  const file = (...names: readonly string[]) => [data, ...names].join('/')
  return (await readHubKeys({ file })).trust
}

/** A new document signer or transport CA; with `dropOld` the old one is not believed any more. */
export async function rotateTrust(
  place: TrustLocation,
  what: 'signer' | 'ca',
  dropOld: boolean,
  ports: KeyPorts,
): Promise<HubTrust> {
  const rotate = what === 'signer' ? rotateSigner : rotateCa
  return changeTrust(place, (trust, change) => rotate(trust, { ...change, dropOld }), ports)
}

/** A new timeline, from the state the hub has now. */
export async function startEpoch(place: TrustLocation, ports: KeyPorts): Promise<HubTrust> {
  return changeTrust(place, newEpoch, ports)
}

/** The least version of agents. */
export async function requireAgentVersion(place: TrustLocation, version: string, ports: KeyPorts): Promise<HubTrust> {
  return changeTrust(place, (trust, change) => setMinAgentVersion(trust, version, change), ports)
}

/** Makes a change that the root signs, file by file in its order, and returns the trust that is there then. */
async function changeTrust(
  place: TrustLocation,
  change: (trust: HubTrust, using: Omit<TrustChange, 'dropOld'>) => FileChange[],
  { clock, ids, newKeyPair = generateKeyPair }: KeyPorts,
): Promise<HubTrust> {
  const before = await readTrust(place)
  const rootKey = await readRoot(place)
  const changes = change(before, { rootKey, newKeyPair, now: clock.now(), serial: ids.bytes(16) })
  for (const { name, text } of changes) await replaceFileAtomically(`${place.data}/${KEY_FOLDER}/${name}`, text, ids)
  return readTrust(place)
}

async function readRoot({ data, root }: TrustLocation): Promise<string> {
  if (root !== undefined) return await readFile(root, 'utf8')
  const file = `${data}/${KEY_FOLDER}/${TRUST_FILES.root}`
  const text = await readFileIfExists(file)
  if (text !== undefined) return text
  throw new Stalled('RootKeyNeeded', 'the root key is not in the data directory', {
    where: file,
    todo: 'give the root key with --root FILE',
  })
}
