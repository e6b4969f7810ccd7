/** Writes the objects of an owner, and reads the repositories that they are compiled from. */
import { findCondition } from '../../../core/conditions.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import type { Context } from '../../../engine/reconciler.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import type { Source } from '../../../kinds/native/source.ts'
import { identityOf } from '../../../source/fetch-request.ts'
import type { LazyFiles } from '../../lazy-files.ts'
import { COMPILED } from '../annotations.ts'
import { locationOf } from '../compile/source-location.ts'
import type { ArgoAddress } from '../compile/source-location.ts'
import { repositoryFiles } from '../files/repositories.ts'
import type { RepositoryFiles } from '../files/repositories.ts'
import type { ArgoPorts } from './ports.ts'
import { MADE_KINDS } from './served-objects.ts'
import type { Desired, Owner } from './served-objects.ts'

interface Writing {
  readonly ports: ArgoPorts
  readonly context: Context
}

/** The sentence of a write that the API refused; other errors are thrown, and the pass is tried again. */
export function refusedWrite(caught: unknown, kind: string, name: string): string {
  if (!isApiError(caught, 'Forbidden') && !isApiError(caught, 'Invalid')) throw caught
  return `${kind} ${name} cannot be written: ${caught.message}`
}

/** Writes objects that are missing or different; returns a sentence for each name that is taken or write refused. */
export async function writeObjects(
  owner: Owner,
  desired: readonly Desired[],
  { ports, context }: Writing,
): Promise<string[]> {
  const taken: string[] = []
  const inOrder = desired.toSorted((a, b) => MADE_KINDS.indexOf(a.kind) - MADE_KINDS.indexOf(b.kind))
  for (const { kind, object } of inOrder) {
    const { name, namespace = '' } = object.metadata
    if (ports.isTaken(kind, owner, name)) {
      taken.push(
        `${kind.kind} ${name} exists in namespace ${namespace} and was not made for ${owner.kind} ${owner.metadata.name}; rename one of them`,
      )
      continue
    }
    const present = ports.find(kind, namespace, name)
    if (present?.metadata.annotations?.[COMPILED] === object.metadata.annotations?.[COMPILED]) continue
    try {
      await ports.apply(kind, object, context.signal)
    } catch (caught) {
      taken.push(refusedWrite(caught, kind.kind, name))
      continue
    }
    context.log.info({ kind: kind.kind, object: name, owner: owner.metadata.name }, 'compiled')
  }
  return taken
}

/** Deletes objects that are no longer desired: first Bundles, and what they named when these are gone. */
export async function pruneObjects(
  owner: Owner,
  keep: (kind: Desired['kind'], name: string) => boolean,
  { ports, context }: Writing,
): Promise<{ readonly isDone: boolean }> {
  const left = ports.madeFor(owner.metadata.uid ?? '').filter(({ kind, object }) => !keep(kind, object.metadata.name))
  const bundles = left.filter(({ kind }) => kind === Bundle)
  for (const { kind, object } of bundles.length > 0 ? bundles : left) {
    if (!object.metadata.deletionTimestamp) await ports.remove(kind, object, context.signal)
  }
  return { isDone: left.length === 0 }
}

/** The repositories of an owner's Sources. */
export interface Fetched {
  /** The files of a repository; undefined when it was not fetched. */
  of(url: string, revision?: string): RepositoryFiles | undefined
  /** The artifacts, for a digest of inputs. */
  readonly artifacts: Readonly<Record<string, Digest>>
  /** Why a Source has no artifact, by its name. */
  readonly missing: ReadonlyMap<string, string>
  /** Revision by name of the Source. */
  readonly revisions: ReadonlyMap<string, string>
  /** The revision that was fetched for a source; undefined when none was. */
  revisionOf(source: ArgoAddress): string | undefined
  /** Reads the files that were asked for; returns whether it read any. */
  load(): Promise<boolean>
}

/** Reads what the Sources of an owner have fetched. */
export async function fetchedSources(
  namespace: string,
  sources: readonly KubeObject[],
  ports: Pick<ArgoPorts, 'sourceOf' | 'filesOf'>,
): Promise<Fetched> {
  const artifacts: Record<string, Digest> = {}
  const missing = new Map<string, string>()
  const revisions = new Map<string, string>()
  const files = new Map<string, LazyFiles>()
  const commits = new Map<string, string>()
  for (const { metadata, ...rest } of sources) {
    const source = ports.sourceOf(namespace, metadata.name)
    const { spec } = rest as unknown as Source
    const artifact = source?.status?.artifact
    if (!artifact || artifact.identity !== identityOf(spec)) {
      const ready = findCondition(source?.status?.conditions, 'Ready')
      missing.set(metadata.name, ready?.status === 'False' && ready.reason !== 'Fetching' ? ready.message : '')
      continue
    }
    artifacts[metadata.name] = artifact.digest
    revisions.set(metadata.name, artifact.commit ?? artifact.revision)
    commits.set(locationKey(spec), artifact.commit ?? artifact.revision)
    files.set(locationKey(spec), await ports.filesOf(artifact.digest))
  }
  return {
    artifacts,
    missing,
    revisions,
    of(url, revision = '') {
      const location = locationOf({ repoURL: url, targetRevision: revision })
      if ('problem' in location) return undefined
      const key = locationKey(location.spec)
      const found = files.get(key)
      return found && repositoryFiles(found, commits.get(key))
    },
    revisionOf(source) {
      const location = locationOf(source)
      return 'problem' in location ? undefined : commits.get(locationKey(location.spec))
    },
    async load() {
      let isNew = false
      for (const one of files.values()) isNew = (await one.load()) || isNew
      return isNew
    },
  }
}

function locationKey({ git, helm, oci }: Pick<Source['spec'], 'git' | 'helm' | 'oci'>): string {
  return JSON.stringify({ git, helm, oci })
}

/** Rounds of compiling: each may ask for further files. */
const MAX_ROUNDS = 4

/** Compiles until no further file is needed. */
export async function compileWith<T>(fetched: Pick<Fetched, 'load'>, compile: () => T): Promise<T> {
  let result = compile()
  for (let round = 1; round < MAX_ROUNDS && (await fetched.load()); round++) result = compile()
  return result
}
