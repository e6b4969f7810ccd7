// Tested by src/controllers/bundle-render/reconcile.test.ts
/** Plaintext Secrets that clusters already have: they stay, and the Bundle says so. */
import type { Digest } from '../../core/crypto/digest.ts'
import { nameSome, plural } from '../../core/text/name-some.ts'
import type { Draft } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { isSecret } from '../../kinds/redact-secret.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import type { VariantsRequest, VariantsResult } from '../../render/bundle/render-variants.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'
import type { BundleRenderPorts } from './ports.ts'

/** Secrets that the newest Release has, although the repository contains their values and does not allow them. */
export interface RenderedVariants extends VariantsResult {
  readonly plaintext: readonly string[]
}

/**
 * Renders, and renders again with plaintext Secrets if the newest Release already has all Secrets that were refused. An
 * older hub delivered plaintext Secrets of some repositories without a question.
 */
export async function renderDelivered(
  request: VariantsRequest,
  newest: ExistingRelease | undefined,
  { ports, signal }: { readonly ports: Pick<BundleRenderPorts, 'render' | 'getBlob'>; readonly signal: AbortSignal },
): Promise<RenderedVariants> {
  const rendered = await ports.render(request, signal)
  const refused = rendered.variants.flatMap(({ result }) =>
    result.ok === false ? result.problems.flatMap(({ plaintext = [] }) => plaintext) : [],
  )
  const plaintext = [...new Set(refused)].sort()
  if (plaintext.length === 0 || !newest) return { ...rendered, plaintext: [] }
  const delivered = await secretsOf(newest, ports)
  if (!plaintext.every((name) => delivered.has(name))) return { ...rendered, plaintext: [] }
  const again = await ports.render({ ...request, recipe: { ...request.recipe, allowSecrets: true } }, signal)
  return { ...again, plaintext }
}

async function secretsOf(
  { set, variants }: ExistingRelease,
  { getBlob }: Pick<BundleRenderPorts, 'getBlob'>,
): Promise<ReadonlySet<string>> {
  const sets = new Set<Digest>([set, ...(variants ?? []).flatMap((one) => one.set ?? [])])
  const names = new Set<string>()
  for (const digest of sets) {
    const bytes = await getBlob(digest)
    for (const object of (bytes && parseObjectSet(bytes)?.objects) ?? []) if (isSecret(object)) names.add(object.name)
  }
  return names
}

/** Condition PlaintextSecret, only after it was True once. */
export function showPlaintext({ conditions }: Draft<Bundle>, plaintext: readonly string[]): void {
  if (plaintext.length > 0) {
    const noun = plural(plaintext.length, 'Secret is', 'Secrets are')
    const message = `${noun} in the repository as plaintext: ${nameSome(plaintext)}. Clusters already have them, so they stay; new ones are refused. Move the values out of the repository, or annotate the Source, or the GitRepo or Application that made it, with flotilla.dev/secrets: Allow.`
    conditions.set('PlaintextSecret', 'True', 'AlreadyDelivered', message.slice(0, 4096))
  } else if (conditions.get('PlaintextSecret')?.status === 'True') {
    conditions.set('PlaintextSecret', 'False', 'NoneFound', 'No Secret that must not be there is in the repository.')
  }
}
