/** What a rollout brings: commit and author of each bundle, and the objects that differ from the release before. */
import type { Release } from '../../../src/kinds/native/release.ts'
import { shortRevision } from '../../../src/core/text/short-revision.ts'
import { useList } from '../data/queries.ts'
import { Difference } from '../releases/difference-view.tsx'
import { releaseBefore } from '../releases/release-difference.ts'
import { Empty, Failure, Panel } from '../ui/parts.tsx'

export function WhatChanges({ release }: { readonly release: Release }) {
  const { namespace = 'default' } = release.metadata
  const releases = useList<Release>('releases', { namespace })
  return (
    <Panel title="What it changes">
      {releases.error && <Failure error={releases.error} what="the releases" />}
      {releases.isPending && !releases.error && <Empty title="Reading the releases…" />}
      {releases.data &&
        release.spec.bundles.map((entry) => (
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
            />
          </section>
        ))}
    </Panel>
  )
}
