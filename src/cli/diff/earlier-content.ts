/**
 * The content of earlier Releases, rendered again from the commits of a clone. The result is verified: the objects must
 * have the digests that the hub delivers. A definition that changed since then would otherwise give other objects.
 */
import { compact } from '../../core/compact.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { DiffContent } from '../../plan/fleet/fleet-diff.ts'
import { sortHooks } from '../../plan/apply/hooks.ts'
import { toBlobs } from '../../render/render-result.ts'
import { extractSecretData } from '../../render/secret-values.ts'
import type { Files } from '../repository/git-repository.ts'
import type { Delivered, DeliveredPart, HeldBack } from './delivered.ts'

/** An object that the hub delivers, by name and digest. */
export interface DeliveredObject {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly digest: string
}

/** What a Bundle is compared with if earlier content is delivered. */
export interface EarlierContent {
  /** The name of the delivered Release. */
  readonly release: string
  readonly parts: readonly { readonly files: Files; readonly clusters: readonly string[] }[]
  /** The reason why the delivered content is not known. */
  readonly unknown?: string
  readonly heldBack?: HeldBack & { readonly files?: Files }
}

export interface EarlierPorts {
  /** The files of a revision of the Source; undefined if the clone does not have the commit. */
  readonly filesAt: (revision: string) => Promise<Files | undefined>
  /** The Bundle as it is on the hub, rendered from these files for a cluster. */
  readonly render: (files: Files, cluster: string) => DiffContent | undefined
  /** A cluster of the part that has received the set. */
  readonly witnessOf: (part: DeliveredPart) => string | undefined
  /** The objects that the hub delivers to a cluster; undefined if the caller cannot read them. */
  readonly objectsOn: (cluster: string) => Promise<readonly DeliveredObject[] | undefined>
  /** The Bundle has no Source: its content is in its definition. */
  readonly isInline: boolean
}

type Earlier = Extract<Delivered, { readonly kind: 'Earlier' }>

/** Finds the files of each part, or says why the content cannot be compared. */
export async function readEarlier(delivered: Earlier, ports: EarlierPorts): Promise<EarlierContent> {
  const { release, heldBack } = delivered
  const held = heldBack && {
    ...heldBack,
    ...(heldBack.revision === undefined ? {} : await optionalFiles(heldBack.revision, ports)),
  }
  const base = compact({ release, heldBack: held })
  const parts: { files: Files; clusters: readonly string[] }[] = []
  for (const part of delivered.parts) {
    const found = await filesOfPart(part, ports)
    if ('problem' in found) {
      return { ...base, parts: [], unknown: `the hub delivers release ${release}, and ${found.problem}` }
    }
    parts.push({ files: found.files, clusters: part.clusters })
  }
  return { ...base, parts }
}

async function optionalFiles(revision: string, { filesAt }: EarlierPorts): Promise<{ readonly files?: Files }> {
  const files = await filesAt(revision)
  return files ? { files } : {}
}

async function filesOfPart(
  part: DeliveredPart,
  ports: EarlierPorts,
): Promise<{ readonly files: Files } | { readonly problem: string }> {
  const where = nameSome(part.clusters)
  const witness = ports.witnessOf(part)
  if (witness === undefined) return { problem: `no cluster has received its content for ${where} yet` }
  const wanted = await ports.objectsOn(witness)
  if (!wanted) return { problem: 'its objects cannot be read from the hub (bundleobjects.view.flotilla.dev)' }
  const missing: string[] = []
  const candidates = ports.isInline ? [undefined] : part.revisions
  for (const revision of candidates) {
    const files = revision === undefined ? new Map<string, Uint8Array>() : await ports.filesAt(revision)
    if (!files) missing.push(revision!)
    else if (isSame(ports.render(files, witness), wanted)) return { files }
  }
  return {
    problem:
      missing.length > 0
        ? `this clone does not have its commit ${missing[0]!.replace(/^.*:/, '')}; fetch the commit with "git fetch"`
        : `no commit of this clone has its content for ${where}: the definition of the Bundle has changed since`,
  }
}

/** Whether rendered content has exactly the objects that the hub delivers. */
function isSame(rendered: DiffContent | undefined, wanted: readonly DeliveredObject[]): boolean {
  if (rendered?.content.kind !== 'Objects') return false
  const { objects, options } = rendered.content
  const sorted = sortHooks(options ?? {}, objects)
  if (!sorted.ok) return false
  const blobs = toBlobs(sorted.objects.map((object) => extractSecretData(object).object))
  const lines = (list: readonly DeliveredObject[]) =>
    list
      .map((one) => [one.apiVersion, one.kind, one.namespace ?? '', one.name, one.digest].join(' '))
      .sort()
      .join('\n')
  return lines(blobs) === lines(wanted)
}
