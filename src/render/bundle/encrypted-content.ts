// Tested by src/agent/render/cluster-decryption.contract.test.ts.
/**
 * Content that SOPS encrypted for keys that only the cluster has: the hub builds the objects and leaves their values
 * encrypted, and the agent decrypts them.
 */
import { compact } from '../../core/compact.ts'
import { utf8 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import { isSecret, redactTexts } from '../../kinds/redact-secret.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { decryptObject, describeBuiltObject, encryptedText, encryptionOf } from '../sops/decrypt-object.ts'
import { createKeyRing } from '../sops/key-ring.ts'
import { SopsError } from '../sops/sops-error.ts'
import type { RenderResult } from '../render-result.ts'
import type { PreparedContent } from './prepare-content.ts'
import type { BundleRecipe, ClusterDecryption } from './recipe.ts'
import { RenderFailure } from './render-failure.ts'
import type { ArtifactFiles } from './render-context.ts'

const OBJECTS = 'objects'
const FILES = 'sops/'

/** The decryption that agents do with keys of their clusters; undefined if the hub decrypts. */
export function clusterDecryption({ metadata, spec }: Bundle): ClusterDecryption | undefined {
  if (spec.decryption?.at !== 'Agent') return undefined
  const { secret, mac } = spec.decryption
  return { namespace: metadata.namespace ?? 'default', checkMac: mac !== 'Ignore', ...compact({ secret }) }
}

/** The content for the agent: the objects, and the encrypted files with whose authentication codes they are checked. */
export function prepareEncrypted(
  { bundle }: Pick<BundleRecipe, 'bundle'>,
  decryption: ClusterDecryption,
  objects: readonly UnknownObject[],
  encrypted: ArtifactFiles,
): PreparedContent {
  const open = objects.find(hasOpenValues)
  if (open) {
    throw new RenderFailure(
      `Secret ${open.metadata.name} has readable values, and what a cluster decrypts travels as it is written; encrypt the Secret, or let the hub decrypt`,
    )
  }
  const text = objects.map((object) => JSON.stringify(object)).join('\n---\n')
  return {
    recipe: { bundle, style: 'Raw', path: OBJECTS, allowSecrets: true, decryptInCluster: compact({ ...decryption }) },
    files: new Map([
      [`${OBJECTS}/manifests.yaml`, utf8(text)],
      ...[...encrypted].map(([path, bytes]) => [FILES + path, bytes] as const),
    ]),
  }
}

/** Whether a Secret has values that SOPS did not encrypt. An encrypted object can have readable fields by its rules. */
function hasOpenValues(object: UnknownObject): boolean {
  if (!isSecret(object) || encryptionOf(object) === 'Whole') return false
  const { data, stringData } = object
  const values = Object.values(isObject(data) ? data : {})
  const literal = Object.keys(isObject(stringData) ? stringData : {})
  return literal.length > 0 || values.some((value) => encryptedText(value) === undefined)
}

/** The texts of the keys in a Secret of the cluster. An agent opens keys of age only. */
export interface ClusterKeys {
  readonly keys: Readonly<Record<string, string>>
}

/** Decrypts rendered objects with the keys of the cluster. A problem contains no key and no decrypted value. */
export function decryptRendered(
  result: RenderResult,
  { decryption, files, keys }: { readonly decryption: ClusterDecryption; readonly files: ArtifactFiles } & ClusterKeys,
): RenderResult {
  if (!result.ok) return result
  const ring = createKeyRing(new Map(Object.entries(keys)), new Map(), 'an agent opens keys of age only')
  const sources = [...files].flatMap(([path, bytes]) =>
    path.startsWith(FILES) ? [{ path: path.slice(FILES.length), bytes }] : [],
  )
  const how = { ring, checkMac: decryption.checkMac, secretsOnly: true, files: () => sources }
  const objects: UnknownObject[] = []
  for (const object of result.objects) {
    try {
      objects.push(decryptObject(object, how) as unknown as UnknownObject)
    } catch (caught) {
      if (!(caught instanceof SopsError)) throw caught
      const what = describeBuiltObject(object)
      const message = redactTexts(`decryption failed for '${what}': ${caught.message}`, ring.revealed)
      return { ok: false, problems: [{ message }] }
    }
  }
  return { ...result, objects }
}
