/** The families of Flux's recorded answers, each with the product's function that answers it. */
import { base64, fromBase64, fromUtf8, utf8 } from '../../../src/core/bytes.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { satisfies, versionText, VersionError } from '../../../src/core/text/semver.ts'
import { parseTime } from '../../../src/core/time/time.ts'
import { buildFluxKustomization, builtText } from '../../../src/dialects/flux/build/build-kustomization.ts'
import type { FluxKustomization } from '../../../src/dialects/flux/build/flux-kustomization.ts'
import { FluxBuildError } from '../../../src/dialects/flux/build/flux-build-error.ts'
import { findKustomization } from '../../../src/dialects/flux/build/flux-kustomization.ts'
import {
  HealthExpressionError,
  healthReader,
  readyExpression,
} from '../../../src/dialects/flux/health/health-expressions.ts'
import type { HealthExpressions } from '../../../src/dialects/flux/health/health-expressions.ts'
import { dependencyId, dependencyOrder } from '../../../src/dialects/flux/order/dependency-order.ts'
import {
  bucketFilter,
  buildFilter,
  countPatterns,
  sourceFilter,
} from '../../../src/dialects/flux/sources/ignore-files.ts'
import type { IgnoreInput } from '../../../src/dialects/flux/sources/ignore-files.ts'
import { resolveCheckout } from '../../../src/dialects/flux/sources/resolve-checkout.ts'
import type { GitRef } from '../../../src/dialects/flux/sources/resolve-checkout.ts'
import { readTagVersion, selectGitTag, selectOciTag } from '../../../src/dialects/flux/sources/select-tag.ts'
import type { OciTagRule } from '../../../src/dialects/flux/sources/select-tag.ts'
import { SourceRefError } from '../../../src/dialects/flux/sources/source-ref-error.ts'
import { SubstituteError } from '../../../src/dialects/flux/substitute/substitute-error.ts'
import { substituteBytes } from '../../../src/dialects/flux/substitute/substitute.ts'
import { byteTextBytes, fromByteText, toByteText } from '../../../src/dialects/flux/text/byte-text.ts'
import { objectData, releaseValues, ValuesError } from '../../../src/dialects/flux/values/release-values.ts'
import type { ValuesReference } from '../../../src/dialects/flux/values/release-values.ts'
import type { UnknownObject } from '../../../src/kinds/meta.ts'
import { openPgpMessages } from '../../../src/hub/compose/open-pgp-messages.ts'
import { KStatusError } from '../../../src/plan/health/kstatus.ts'
import { cleanPath, createFileTree } from '../../../src/render/kustomize/loader.ts'
import { decryptSops } from '../../../src/render/sops/decrypt-sops.ts'
import { createKeyRing, pgpKeysOf } from '../../../src/render/sops/key-ring.ts'
import type { KeyRing, OpenedMessages } from '../../../src/render/sops/key-ring.ts'
import { SopsError } from '../../../src/render/sops/sops-error.ts'
import type { SopsFormat } from '../../../src/render/sops/sops-tree.ts'
import type { RecordedCase } from '../recorded-case.ts'

type Answer = Record<string, unknown>
type Errors = readonly (new (...args: never[]) => Error)[]

/** An answer, or the error of one of the given classes as one. */
function orError(errors: Errors, answer: () => Answer): Answer {
  try {
    return answer()
  } catch (caught) {
    if (!errors.some((known) => caught instanceof known)) throw caught
    const { message, reason } = caught as Error & { readonly reason?: string }
    return reason === undefined ? { error: message } : { error: message, reason }
  }
}

const decode = (text: string): string => fromUtf8(fromBase64(text))

function namedObject(objects: readonly JsonObject[], namespace: string) {
  return (kind: string, name: string): JsonObject | undefined =>
    objects.find((object) => {
      const metadata = object['metadata'] as { readonly name?: string; readonly namespace?: string }
      return object['kind'] === kind && metadata.name === name && (metadata.namespace ?? 'default') === namespace
    })
}

interface BuildCase {
  readonly name: string
  readonly kustomization: string
  readonly path: string
  readonly files: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, string>>
  readonly objects?: readonly JsonObject[]
  readonly namespace?: string
}

/** The files with links as copies of what they lead to. */
function linkedFiles({ files, links = {} }: BuildCase): Map<string, Uint8Array> {
  const found = new Map(Object.entries(files))
  for (const [link, target] of Object.entries(links)) {
    const to = cleanPath(`/${link.split('/').slice(0, -1).join('/')}/${target}`).slice(1)
    for (const [path, text] of Object.entries(files)) {
      if (path === to || path.startsWith(`${to}/`)) found.set(link + path.slice(to.length), text)
    }
  }
  return new Map([...found].map(([path, text]) => [`/dir/${path}`, utf8(text)]))
}

function build(input: RecordedCase): Answer {
  const one = input as unknown as BuildCase
  return orError([FluxBuildError], () => {
    const namespace = one.namespace ?? 'flux-system'
    const kustomization = findKustomization(one.kustomization, { name: one.name, namespace, file: 'ks.yaml' })
    const objects = buildFluxKustomization({
      kustomization,
      tree: createFileTree(linkedFiles(one)),
      directory: cleanPath(`/dir/${one.path}`),
      // The controller refuses variables that are not set, and looks for the objects it is told to read.
      strict: true,
      read: namedObject(one.objects ?? [], kustomization.namespace),
      decode,
    })
    for (const object of objects) requireIdentity(object)
    return { yaml: builtText(objects).replace(/---\n$/, '') }
  })
}

function requireIdentity(object: ReadonlyMap<string, unknown>): void {
  if (!object.get('apiVersion')) throw new FluxBuildError('failed to decode Kubernetes apiVersion, kind and name')
}

function substitute({ text, vars, strict }: RecordedCase): Answer {
  return orError([SubstituteError], () => {
    const output = substituteBytes(toByteText(text as string), {
      vars: new Map(Object.entries((vars ?? {}) as Record<string, string>)),
      strict: strict === true,
    })
    const read = fromByteText(output)
    return read === undefined ? { output64: base64(byteTextBytes(output)) } : { output: read }
  })
}

function values({ namespace, values: inline, valuesFrom, objects }: RecordedCase): Answer {
  const find = namedObject(objects as JsonObject[], namespace as string)
  return orError([ValuesError], () => ({
    ...releaseValues({
      namespace: namespace as string,
      values: (inline ?? {}) as JsonObject,
      valuesFrom: (valuesFrom ?? []) as ValuesReference[],
      read: (kind, name) => {
        const object = find(kind, name)
        return object && objectData(object, decode)
      },
    }),
  }))
}

function ignore({ files, ignore: patterns }: RecordedCase): Answer {
  const texts = files as Record<string, string>
  const paths = Object.keys(texts)
  const input: IgnoreInput = {
    files: paths,
    read: (path) => texts[path]!,
    ...(patterns === undefined ? {} : { ignore: patterns as string }),
  }
  const kept = (isIgnored: (path: string) => boolean): string[] =>
    paths.filter((path) => !isIgnored(path)).sort((a, b) => (toByteText(a) < toByteText(b) ? -1 : 1))
  return {
    kept: kept(sourceFilter(input)),
    keptBucket: kept(bucketFilter(input)),
    keptWithDefaults: kept(buildFilter(input)),
    patterns: countPatterns(input),
  }
}

interface OrderedObject {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec: { readonly dependsOn?: readonly { readonly name: string; readonly namespace?: string }[] }
}

function order({ objects }: RecordedCase): Answer {
  const dependents = (objects as OrderedObject[]).map(({ metadata, spec }) => ({
    id: dependencyId(metadata, ''),
    dependsOn: (spec.dependsOn ?? []).map((entry) => dependencyId(entry, metadata.namespace ?? '')),
  }))
  const result = dependencyOrder(dependents)
  return 'order' in result
    ? { order: result.order }
    : { error: `circular dependency detected: ${result.circle.join(' -> ')}` }
}

interface RecordedRepository {
  readonly refs: Record<string, string>
  readonly annotated: Record<string, string>
  readonly commits: Record<string, { readonly time: string; readonly parents: readonly string[] }>
}

function checkout({ refs, annotated, commits }: RecordedRepository, ref: GitRef): Answer {
  const descends = (from: string, to: string): boolean =>
    from === to || (commits[from]?.parents ?? []).some((parent) => descends(parent, to))
  return {
    ...resolveCheckout(
      {
        refs,
        annotated,
        timeOf: (commit) => parseTime(commits[commit]!.time)!,
        has: (commit, head) => (head === undefined ? commit in commits : descends(head, commit)),
      },
      ref,
    ),
  }
}

function refs(input: RecordedCase): Answer {
  const { kind, semver, tagList, version, repo, ref } = input
  return orError([SourceRefError, VersionError], () => {
    if (kind === 'checkout') return checkout(repo as RecordedRepository, ref ?? {})
    if (kind === 'oci') return { tag: selectOciTag(input as unknown as OciTagRule, tagList as string[]) }
    if (kind === 'git') {
      const tags = (tagList as { name: string; time: string }[]).map(({ name, time }) => ({
        name,
        time: parseTime(time)!,
      }))
      return { tag: selectGitTag(semver as string, tags) }
    }
    const read = readTagVersion(version as string)
    return {
      string: versionText(read),
      original: read.original,
      prerelease: read.prerelease,
      metadata: read.metadata,
      ...(semver === undefined ? {} : { match: satisfies(read, semver as string, 'group') }),
    }
  })
}

function health({ kind, expr, self, dep, exprs, object }: RecordedCase): Answer {
  return orError([HealthExpressionError, KStatusError], () =>
    kind === 'readyExpr'
      ? { ready: readyExpression(expr as string)(self as UnknownObject, dep as UnknownObject) }
      : { ...healthReader((exprs ?? []) as HealthExpressions[])(object as UnknownObject) },
  )
}

interface SopsCase {
  readonly kind: 'file' | 'build'
  readonly data: string
  readonly format: SopsFormat
  readonly outputFormat: SopsFormat
  readonly kustomization: string
  readonly files: Readonly<Record<string, string>>
  readonly objects: readonly JsonObject[]
}

/** The data of the decryption Secret as texts; throws FluxBuildError where there is none. */
function decryptionKeys({ spec, namespace }: FluxKustomization, objects: readonly JsonObject[]): Map<string, string> {
  const { secretRef } = (spec['decryption'] ?? {}) as { readonly secretRef?: { readonly name: string } }
  if (!secretRef) return new Map()
  const found = namedObject(objects, namespace)('Secret', secretRef.name)
  if (!found) throw new FluxBuildError(`secrets "${secretRef.name}" not found`)
  return new Map(objectData(found, decode))
}

async function sops(input: RecordedCase): Promise<Answer> {
  const one = input as unknown as SopsCase
  const namespace = 'flux-system'
  const kustomization = findKustomization(one.kustomization, { name: 'app', namespace, file: 'ks.yaml' })
  const errors = [FluxBuildError, SopsError]
  const found = orError(errors, () => ({ keys: decryptionKeys(kustomization, one.objects) }))
  if (!('keys' in found)) return found
  const secret = found['keys'] as Map<string, string>
  const run = (opened: OpenedMessages): { readonly ring: KeyRing; readonly answer: Answer } => {
    const ring = createKeyRing(secret, opened)
    // Flux does not look at the authentication code.
    const decryption = { ring, checkMac: false, secretsOnly: false }
    const answer = orError(errors, () => {
      if (one.kind === 'file') {
        const content = decryptSops(one.data, { input: one.format, output: one.outputFormat }, decryption)
        return { output: new TextDecoder().decode(content) }
      }
      const tree = createFileTree(
        new Map(Object.entries(one.files).map(([path, text]) => [`/dir/${path}`, utf8(text)])),
      )
      const objects = buildFluxKustomization({
        kustomization,
        tree,
        directory: '/dir',
        strict: true,
        decode,
        decryption,
      })
      return { yaml: builtText(objects).replace(/---\n$/, '') }
    })
    return { ring, answer }
  }
  const first = run(new Map())
  if (first.ring.wanted.size === 0) return first.answer
  return run(await openPgpMessages([...first.ring.wanted], pgpKeysOf(secret))).answer
}

/** The families by name. */
export const FLUX_FAMILIES = { build, substitute, values, ignore, order, refs, health, sops }
