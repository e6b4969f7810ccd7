/** What a rollout brings: commit and author of each bundle, and the objects that differ from the release before. */
import type { Release } from '../../../src/kinds/native/release.ts'
import { shortRevision } from '../../../src/core/text/short-revision.ts'
import { useList } from '../data/queries.ts'
import { Difference } from '../releases/difference-view.tsx'
import { releaseBefore } from '../releases/release-difference.ts'
import { Empty, Failure, Panel } from '../ui/parts.tsx'

export function WhatChanges({ release }: { readonly release: Release }) {
  return (
    <Panel title="What it changes">
      <BundleChanges release={release} />
    </Panel>
  )
}

/** The changes of each bundle of a release against the release before it. */
export function BundleChanges({ release, isBrief = false }: { readonly release: Release; readonly isBrief?: boolean }) {
  const { namespace = 'default' } = release.metadata
  const releases = useList<Release>('releases', { namespace })
  if (releases.error) return <Failure error={releases.error} what="the releases" />
  if (releases.isPending) return <Empty title="Reading the releases…" />
  return release.spec.bundles.map((entry) => (
    <section key={entry.name} className="bundle-change" data-bundle={entry.name}>
      <h3>
        {entry.name} <span className="quiet">g{entry.generation}</span>
      </h3>
      <p>
        {entry.origin?.subject !== undefined && <strong>{entry.origin.subject} </strong>}
        {entry.origin?.author !== undefined && <>by {entry.origin.author} </>}
        {entry.revision === undefined ? (
          <span className="quiet">content written in the Bundle</span>
        ) : (
          <code title={entry.revision}>{shortRevision(entry.revision)}</code>
        )}
      </p>
      <Difference
        before={releaseBefore(releases.data, entry.name, entry.generation)}
        after={{ release, entry }}
        isBrief={isBrief}
      />
    </section>
  ))
}
