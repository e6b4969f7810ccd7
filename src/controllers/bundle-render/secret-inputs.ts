/** Inputs of a Bundle that come from Secrets of the hub. */
import { base64, fromBase64, fromUtf8, hmacSha256, utf8 } from '../../core/bytes.ts'
import { Stalled, Waiting } from '../../core/errors.ts'
import { canonicalJson, isObject } from '../../core/json.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import { redactTexts } from '../../kinds/redact-secret.ts'
import type { BundleRecipe, InputSource, SopsKeys } from '../../render/bundle/recipe.ts'
import type { SharedVariant } from '../../render/bundle/render-variants.ts'
import type { BundleRenderPorts } from './ports.ts'

/**
 * A user that may write Bundles may not read each Secret of the namespace that way: a label on the Secret allows it.
 */
const LABEL = 'flotilla.dev/input'
const ALLOWED = 'allowed'
/** Keys of SOPS files: builders decrypt with them, and no template sees them. */
const DECRYPTION = 'decryption'
const WAIT_MS = 30_000

/** The hub delivers content that agents render as it is written, so it may not contain a Secret of the hub. */
export function refuseSecretInputs({ spec }: Bundle): void {
  const input = spec.inputs?.find(({ secret }) => secret)
  if (input && spec.decryption?.at === 'Agent') {
    throw new Stalled(
      'SecretInput',
      `Input ${input.name} is a Secret of the hub, and with decryption.at Agent it would leave the hub unsealed; encrypt its values in the repository, or decrypt on the hub.`,
    )
  }
  if (!input || spec.render?.at !== 'Agent') return
  throw new Stalled(
    'SecretInput',
    `Input ${input.name} is a Secret of the hub, and with render.at Agent it would leave the hub unsealed; keep it in the clusters and name it in helm.valuesFrom, or render on the hub.`,
  )
}

/** The texts of a Secret, or of one of its keys. Errors never contain a value. */
export async function secretInput(
  bundle: Bundle,
  input: string,
  { name, key }: { readonly name: string; readonly key?: string | undefined },
  ports: Pick<BundleRenderPorts, 'secret'>,
): Promise<string | Record<string, string>> {
  const found = await ports.secret(bundle.metadata.namespace ?? '', name)
  if (!found) throw new Waiting('InputNotFound', `Input ${input} is Secret ${name}, which does not exist.`, WAIT_MS)
  if (found.metadata.labels?.[LABEL] !== ALLOWED) {
    const why = `Input ${input} is Secret ${name}, which is not given to Bundles`
    throw new Waiting('InputNotAllowed', `${why}; label it ${LABEL}=${ALLOWED} if it should be.`, WAIT_MS)
  }
  const texts = Object.fromEntries(
    Object.entries(found.data ?? {}).map(([one, value]) => [one, textOf(value, `key ${one} of Secret ${name}`)]),
  )
  if (key === undefined) return texts
  const text = Object.hasOwn(texts, key) ? texts[key] : undefined
  if (text !== undefined) return text
  throw new Waiting('InputNotFound', `Input ${input} is key ${key} of Secret ${name}, and that is not there.`, WAIT_MS)
}

/** The keys of `spec.decryption`. Errors never contain a value. */
export async function sopsKeys(
  { metadata, spec }: Bundle,
  ports: Pick<BundleRenderPorts, 'secret'>,
): Promise<SopsKeys | undefined> {
  if (!spec.decryption) return undefined
  if (!spec.builder) throw new Stalled('BadInput', 'spec.decryption needs spec.builder: only builders decrypt.')
  const { secret: name, mac, at } = spec.decryption
  if (at === 'Agent') return undefined
  const checkMac = mac !== 'Ignore'
  if (name === undefined) return { keys: {}, checkMac }
  const found = await ports.secret(metadata.namespace ?? '', name)
  if (!found)
    throw new Waiting('InputNotFound', `spec.decryption names Secret ${name}: secrets "${name}" not found.`, WAIT_MS)
  if (![ALLOWED, DECRYPTION].includes(found.metadata.labels?.[LABEL] ?? '')) {
    const why = `spec.decryption names Secret ${name}, which is not given to Bundles`
    throw new Waiting('InputNotAllowed', `${why}; label it ${LABEL}=${DECRYPTION} if it should be.`, WAIT_MS)
  }
  const files = Object.entries(found.data ?? {}).filter(([key]) => /\.(agekey|asc)$/.test(key))
  const keys = files.map(([key, value]) => [key, textOf(value, `key ${key} of Secret ${name}`)])
  return { keys: Object.fromEntries(keys) as Record<string, string>, checkMac }
}

function textOf(value: string, what: string): string {
  try {
    return fromUtf8(fromBase64(value))
  } catch {
    throw new Stalled('BadInput', `The ${what} is not text.`)
  }
}

/**
 * Inputs for the digest of a recipe: instead of a Secret's values a code that cannot be guessed without the Bundle's
 * key.
 */
export async function markedInputs(
  bundle: Bundle,
  inputs: Readonly<Record<string, InputSource>> = {},
  ports: Pick<BundleRenderPorts, 'valuesKeyOf'>,
): Promise<Readonly<Record<string, unknown>>> {
  const secret = (bundle.spec.inputs ?? []).filter((input) => input.secret).map(({ name }) => name)
  if (secret.length === 0) return inputs
  const key = (await ports.valuesKeyOf(keyOf(bundle))).reveal()
  const marks = secret.map((name) => [name, { mark: base64(hmacSha256(key, canonicalJson([name, inputs[name]]))) }])
  return { ...inputs, ...Object.fromEntries(marks) }
}

/** The decryption of a recipe for its digest. */
export async function markedSopsKeys(
  bundle: Bundle,
  sops: SopsKeys | undefined,
  ports: Pick<BundleRenderPorts, 'valuesKeyOf'>,
): Promise<unknown> {
  if (!sops) return undefined
  const key = (await ports.valuesKeyOf(keyOf(bundle))).reveal()
  return { checkMac: sops.checkMac, mark: base64(hmacSha256(key, canonicalJson(sops.keys))) }
}

/** Rendering results without secret inputs: an error of a template may repeat its input. */
export function hideInputs(
  bundle: Bundle,
  { inputs = {}, sops }: Pick<BundleRecipe, 'inputs' | 'sops'>,
  variants: readonly SharedVariant[],
): readonly SharedVariant[] {
  const secret = (bundle.spec.inputs ?? []).flatMap((input) => (input.secret ? [inputs[input.name]] : []))
  const values = secret.flatMap((input) => (input && 'value' in input ? textsIn(input.value) : []))
  const texts = [...values, ...textsIn(sops?.keys)]
  if (texts.length === 0) return variants
  const forms = texts.flatMap((text) => [text, base64(utf8(text)), ...text.split('\n')])
  return variants.map((variant) => {
    const { result } = variant
    if (result.ok !== false) return variant
    const problems = result.problems.map((problem) => ({ ...problem, message: redactTexts(problem.message, forms) }))
    return { ...variant, result: { ok: false, problems } }
  })
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return isObject(value) ? Object.values(value).flatMap(textsIn) : []
}
