/** One Bundle: versions in the field, history with commits, errors of the build, objects on a cluster. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { findCondition } from '../../../src/core/conditions.ts'
import { shortRevision } from '../../../src/core/text/short-revision.ts'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { Release } from '../../../src/kinds/native/release.ts'
import { useList, useObject } from '../data/queries.ts'
import { EventsTab } from '../cluster/events-tab.tsx'
import { useSearchValues } from '../fleet/use-search.ts'
import { Command, Empty, Facts, Failure, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { Ago } from '../ui/time.tsx'
import { Words } from '../ui/words.tsx'
import { ClusterObjects } from './cluster-objects.tsx'
import { CompareReleases } from './compare-releases.tsx'
import { stateOfBundle } from './bundle-state.ts'
import { buildErrors, fieldVersions, releaseHistory, SILENT } from './bundle-versions.ts'
import type { FieldVersion, HistoryEntry, VersionRow } from './bundle-versions.ts'
import { scrollable } from '../ui/scrollable.ts'
import { NoObject } from '../ui/no-object.tsx'

const DEFAULTS = { version: '', cluster: '' } as const
const HUES = 8
const MAX_NAMED = 100

export function BundlePage({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const { data: bundle, error } = useObject<Bundle>('bundles', name, namespace)
  if (error || !bundle) {
    return <NoObject error={error} noun="bundle" namespace={namespace} name={name} list="/bundles" />
  }
  const { spec, status } = bundle
  const { revision } = status ?? {}
  const message = findCondition(status?.conditions, 'Ready')?.message
  return (
    <div className="page">
      <header className="page-head">
        <p className="crumbs">
          <Link href="/bundles">Bundles</Link> <span aria-hidden="true">/</span> {namespace}
        </p>
        <h1>{name}</h1>
        <p className="head-state">
          <State state={stateOfBundle(bundle)} />
        </p>
        {message !== undefined && (
          <p className="head-message">
            <Words text={message} />
          </p>
        )}
      </header>
      <Versions namespace={namespace} name={name} />
      <Panel title="Content">
        <Facts
          facts={[
            ['Revision', revision?.source === undefined ? 'written in the Bundle' : shortRevision(revision.source)],
            ['Commit', revision?.origin?.subject ?? 'not from git'],
            ['Author', revision?.origin?.author ?? 'unknown'],
            ['From', revision?.origin?.from ?? 'the Bundle'],
            [
              'Newest rollout',
              status?.release === undefined ? (
                'none'
              ) : (
                <Link key="release" href={`/rollouts/${namespace}/${status.release}`}>
                  {status.release}
                </Link>
              ),
            ],
            [
              'Placement',
              <Link key="placement" href={`/placements/${namespace}/${spec.placement}`}>
                {spec.placement}
              </Link>,
            ],
            ['Drift', spec.drift?.mode ?? 'Report'],
          ]}
        />
        <p className="as-command">
          <Command>{`flotilla rollout history ${name} -n ${namespace}`}</Command>
        </p>
      </Panel>
      <BuildErrors bundle={bundle} />
      <ClusterObjects namespace={namespace} bundle={name} />
      <Panel title="Events">
        <EventsTab kind="Bundle" name={name} namespace={namespace} />
      </Panel>
    </div>
  )
}

function Versions({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const rows = useList<VersionRow>('bundlestates', { namespace, fields: { bundle: name } })
  const releases = useList<Release>('releases', { namespace })
  const [{ version }, set] = useSearchValues(DEFAULTS)
  const versions = useMemo(
    () => (rows.data && releases.data ? fieldVersions(rows.data, releases.data, name) : undefined),
    [rows.data, releases.data, name],
  )
  const history = useMemo(() => releaseHistory(releases.data ?? [], name), [releases.data, name])
  const error = rows.error ?? releases.error
  const total = versions?.reduce((sum, { clusters }) => sum + clusters.length, 0) ?? 0
  const chosen = versions?.find((one) => one.name === version)
  const hues = useMemo(() => huesOf(history, versions ?? []), [history, versions])
  return (
    <>
      <Panel title="Versions in the field" side={<span className="badge">{total} clusters</span>}>
        {error && <Failure error={error} what="the versions" />}
        {!error && !versions && <Empty title="Reading the versions…" />}
        {versions?.length === 0 && <Empty title="The bundle reaches no cluster." />}
        {versions && versions.length > 0 && (
          <>
            <div className="version-bar" aria-hidden="true">
              {versions.map(({ name: one, clusters }) => (
                <span key={one} data-hue={hues.get(one)} style={{ flexGrow: clusters.length }} />
              ))}
            </div>
            <ul className="legend">
              {versions.map(({ name: one, clusters }) => (
                <li key={one} data-version={one}>
                  <span className="swatch" data-hue={hues.get(one)} aria-hidden="true" />
                  <button
                    type="button"
                    className="as-link"
                    aria-pressed={one === version}
                    onClick={() => set({ version: one === version ? '' : one })}
                  >
                    {one}
                  </button>{' '}
                  <strong>{clusters.length}</strong>
                </li>
              ))}
            </ul>
          </>
        )}
        {chosen && (
          <p className="labels">
            {chosen.clusters.slice(0, MAX_NAMED).map((cluster) => (
              <Link key={cluster} className="label" href={`/clusters/${cluster}`}>
                {cluster}
              </Link>
            ))}
            {chosen.clusters.length > MAX_NAMED && (
              <span className="quiet">and {chosen.clusters.length - MAX_NAMED} more</span>
            )}
          </p>
        )}
      </Panel>
      <Panel title="History">
        <History history={history} versions={versions ?? []} hues={hues} />
      </Panel>
      {releases.data && <CompareReleases releases={releases.data} bundle={name} />}
    </>
  )
}

/** A version keeps its hue while others come and go: by its place in the history. */
function huesOf(history: readonly HistoryEntry[], versions: readonly FieldVersion[]): ReadonlyMap<string, number> {
  const names = history.map(({ release }) => release.metadata.name).toReversed()
  const others = versions.map(({ name }) => name).filter((name) => !names.includes(name))
  // The last hue is grey: for clusters of which nothing is known.
  return new Map([...names, ...others].map((name, index) => [name, name === SILENT ? HUES - 1 : index % (HUES - 1)]))
}

function History({
  history,
  versions,
  hues,
}: {
  readonly history: readonly HistoryEntry[]
  readonly versions: readonly FieldVersion[]
  readonly hues: ReadonlyMap<string, number>
}) {
  if (history.length === 0) return <Empty title="There is no release yet." />
  return (
    <div className="scroll-x" ref={scrollable}>
      <table className="plain">
        <thead>
          <tr>
            <th>Release</th>
            <th>Age</th>
            <th>Revision</th>
            <th>Commit</th>
            <th>Author</th>
            <th>Clusters</th>
            <th>Notes</th>
          </tr>
        </thead>
        <tbody>
          {history.map(({ release: { metadata, spec }, entry, bad }) => (
            <tr key={metadata.name} data-release={metadata.name}>
              <td>
                <span className="swatch" data-hue={hues.get(metadata.name)} aria-hidden="true" />
                <Link href={`/rollouts/${metadata.namespace}/${metadata.name}`}>{metadata.name}</Link>
              </td>
              <td>
                <Ago at={metadata.creationTimestamp} />
              </td>
              <td title={entry.revision}>{entry.revision === undefined ? '–' : shortRevision(entry.revision)}</td>
              <td>{entry.origin?.subject ?? '–'}</td>
              <td>{entry.origin?.author ?? '–'}</td>
              <td>{versions.find(({ name }) => name === metadata.name)?.clusters.length ?? 0}</td>
              <td className="wide">
                {spec.rollBack && (
                  <>
                    rolls back {spec.rollBack.of}, by {spec.rollBack.by}
                  </>
                )}
                {bad !== undefined && (
                  <span className="state" data-tone="odd">
                    ↩ {bad}
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function BuildErrors({ bundle: { metadata, status } }: { readonly bundle: Bundle }) {
  const { namespace = 'default', name } = metadata
  const release = useList<Release>('releases', { namespace }).data?.find((one) => one.metadata.name === status?.release)
  const rendered = findCondition(status?.conditions, 'Rendered')
  const entry = release?.spec.bundles.find((one) => one.name === name)
  const errors = entry ? buildErrors(entry) : []
  if (rendered?.status !== 'False' && errors.length === 0) return null
  return (
    <Panel title="Errors of the build">
      {rendered?.status === 'False' && (
        <div className="failure">
          <strong>{rendered.reason}</strong>
          <span>{rendered.message}</span>
        </div>
      )}
      {errors.length > 0 && (
        <div className="scroll-x" ref={scrollable}>
          <table className="plain">
            <thead>
              <tr>
                <th>Clusters with</th>
                <th>Error</th>
              </tr>
            </thead>
            <tbody>
              {errors.map(({ inputs, problem }) => (
                <tr key={inputs + problem}>
                  <td>{inputs === '' ? 'all clusters' : inputs}</td>
                  <td className="wide">
                    <pre className="problem">{problem}</pre>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  )
}
