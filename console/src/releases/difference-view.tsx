/** What a Release changes against another, object by object. */
import type { Release } from '../../../src/kinds/native/release.ts'
import { useQueries } from '@tanstack/react-query'
import { read } from '../data/api.ts'
import { listPath } from '../data/paths.ts'
import { Command, Empty, Failure } from '../ui/parts.tsx'
import { compareContents, contentChanges } from './release-difference.ts'
import type { ContentChange, ContentComparison, ObjectChange, ReleasedObject } from './release-difference.ts'

type Released = Release['spec']['bundles'][number]

const MAX_GROUPS = 10
const MAX_INPUTS = 3
const MAX_OBJECTS = 100

export interface Side {
  readonly release: Release
  readonly entry: Released
}

export interface DifferenceProps {
  readonly before: Side | undefined
  readonly after: Side
  /** Without the command, where another command is shown. */
  readonly isBrief?: boolean
}

export function Difference({ before, after, isBrief = false }: DifferenceProps) {
  const { changes, same } = contentChanges(before?.entry, after.entry)
  const { name, namespace = 'default' } = after.release.metadata
  return (
    <div className="difference" data-difference={after.entry.name}>
      <p className="quiet">
        {before ? `Against ${before.release.metadata.name}.` : 'The first release of the bundle.'}
        {same > 0 &&
          changes.length > 0 &&
          ` ${same} other ${same === 1 ? 'content stays' : 'contents stay'} as before.`}
      </p>
      {changes.length === 0 && <p className="calm">✔ The objects are the same.</p>}
      {changes.length > 0 && (
        <Groups changes={changes.slice(0, MAX_GROUPS)} before={before} after={after} isForAll={same === 0} />
      )}
      {changes.length > MAX_GROUPS && (
        <p className="quiet">and {changes.length - MAX_GROUPS} more groups of clusters with other contents</p>
      )}
      {!isBrief && <Command>{`flotilla get releaseobjects -n ${namespace} --field-selector release=${name}`}</Command>}
    </div>
  )
}

interface GroupsProps {
  readonly changes: readonly ContentChange[]
  readonly before: Side | undefined
  readonly after: Side
  /** No cluster keeps its content. */
  readonly isForAll: boolean
}

function Groups({ changes, before, after, isForAll }: GroupsProps) {
  const rows = useQueries({
    queries: changes.flatMap((change) => [objectsOf(before, change.before), objectsOf(after, change.after)]),
  })
  const error = rows.find((row) => row.error)?.error
  if (error) return <Failure error={error} what="the objects of the releases" />
  if (rows.some(({ data }) => data === undefined)) return <Empty title="Comparing the objects…" />
  const compared = changes.map((change, at) => ({
    change,
    content: compareContents(change, rows[2 * at]!.data!, rows[2 * at + 1]!.data!),
  }))
  // Contents that differ in their fields often have the same changed objects.
  const groups = [...Map.groupBy(compared, ({ content }) => JSON.stringify(content))]
  return groups.map(([key, members]) => (
    <section key={key}>
      {!(groups.length === 1 && isForAll) && <h4>{clustersText(members.flatMap(({ change }) => change.inputs))}</h4>}
      <Content content={members[0]!.content} />
    </section>
  ))
}

/** The query for the objects of a set; without a set there are none. */
function objectsOf(side: Side | undefined, set: string | undefined) {
  const { name: release = '', namespace } = side?.release.metadata ?? {}
  const path = listPath('releaseobjects', {
    namespace,
    fields: { release, bundle: side?.entry.name ?? '', set: set ?? '' },
  })
  return {
    queryKey: ['releaseobjects', path],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<readonly ReleasedObject[]> =>
      side === undefined || set === undefined
        ? []
        : (await read<{ items: readonly ReleasedObject[] }>(path, signal)).items,
  }
}

function Content({ content }: { readonly content: ContentComparison }) {
  if (content === 'nothing') return <p>Nothing is delivered to these clusters.</p>
  if (content === 'unknown') {
    return (
      <p className="quiet">The objects are not known: the agents render the content, or the hub no longer stores it.</p>
    )
  }
  return <Objects {...content} />
}

function clustersText(inputs: readonly string[]): string {
  if (inputs.length === 0) return 'All clusters'
  const more = inputs.length > MAX_INPUTS ? ` and ${inputs.length - MAX_INPUTS} more` : ''
  return `Clusters with ${inputs.slice(0, MAX_INPUTS).join('; ')}${more}`
}

const SIGNS = {
  added: ['+', 'good'],
  changed: ['≠', 'odd'],
  removed: ['−', 'bad'],
} as const

function Objects({ changes, same }: { readonly changes: readonly ObjectChange[]; readonly same: number }) {
  return (
    <>
      <ul className="object-changes">
        {changes.slice(0, MAX_OBJECTS).map(({ verb, kind, namespace, name }) => (
          <li key={`${kind} ${namespace} ${name}`} data-change={`${verb} ${kind}/${name}`}>
            <span className="state" data-tone={SIGNS[verb][1]}>
              <span className="sign" aria-hidden="true">
                {SIGNS[verb][0]}
              </span>
              {verb}
            </span>{' '}
            {kind} {namespace !== undefined && <span className="quiet">{namespace}/</span>}
            {name}
          </li>
        ))}
      </ul>
      {changes.length > MAX_OBJECTS && <p className="quiet">and {changes.length - MAX_OBJECTS} more</p>}
      <p className="quiet">
        {same} {same === 1 ? 'object is' : 'objects are'} unchanged.
      </p>
    </>
  )
}
