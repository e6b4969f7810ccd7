/** What waits for a person, each with its button, and what is broken. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { AttentionItem } from '../../../src/plan/fleet/attention.ts'
import { ActionButton } from '../actions/action-button.tsx'
import { acceptAction, rejectAction } from '../actions/cluster-actions.ts'
import { ApprovalButtons } from '../rollouts/lanes.tsx'
import { rolloutLink } from '../rollouts/rollout-rows.ts'
import { Command, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { Ago } from '../ui/time.tsx'
import { Words } from '../ui/words.tsx'
import { linkOf, nounOf, stateOfItem } from './inbox-items.ts'
import { ItemButtons } from './item-buttons.tsx'
import { useInbox } from './use-inbox.ts'
import type { InboxFacts } from './use-inbox.ts'

export function InboxPage() {
  const { approvals, clusters, held, broken, warnings, unknown, isReading, facts } = useInbox()
  const waiting = approvals.length + clusters.length + held.length
  return (
    <div className="page">
      <h1 className="hidden">Inbox</h1>
      {unknown.map((text) => (
        <p className="banner" role="status" key={text}>
          {text}
        </p>
      ))}
      <Panel title="Waits for a person" side={<span className="badge">{waiting}</span>}>
        {waiting === 0 && !isReading && unknown.length === 0 && <p className="calm">✔ Nothing waits for a person.</p>}
        <ul className="inbox">
          {approvals.map(({ rollout, ring, since, message }) => (
            <Item
              key={`${rollout.metadata.namespace}/${rollout.metadata.name}`}
              title={<Link href={rolloutLink(rollout)}>{rollout.metadata.name}</Link>}
              what={`Ring "${ring}" needs an approval`}
              since={since}
              message={message}
            >
              <ApprovalButtons rollout={rollout} ring={ring} />
            </Item>
          ))}
          {clusters.map(({ name, since, message }) => (
            <Item
              key={name}
              title={<Link href={`/clusters/${name}`}>{name}</Link>}
              what="The cluster waits to be accepted"
              since={since}
              message={message}
            >
              <div className="actions">
                <ActionButton action={acceptAction(name)} />
                <ActionButton action={rejectAction(name)} />
              </div>
            </Item>
          ))}
          {held.map((item) => (
            <AttentionRow key={`${item.kind} ${item.namespace}/${item.name}`} item={item} facts={facts} />
          ))}
        </ul>
      </Panel>
      <Panel title="Broken" side={<span className="badge">{broken.length}</span>}>
        {broken.length === 0 && !isReading && unknown.length === 0 && (
          <p className="calm">✔ No rollout, source or build has failed.</p>
        )}
        <ul className="inbox">
          {broken.map((item) => (
            <AttentionRow key={`${item.kind} ${item.namespace}/${item.name}`} item={item} facts={facts} />
          ))}
        </ul>
      </Panel>
      {warnings.length > 0 && (
        <Panel title="Should be changed" side={<span className="badge">{warnings.length}</span>}>
          <ul className="inbox">
            {warnings.map((item) => (
              <AttentionRow key={`${item.kind} ${item.namespace}/${item.name}`} item={item} facts={facts} />
            ))}
          </ul>
        </Panel>
      )}
    </div>
  )
}

interface ItemProps {
  readonly title: ReactNode
  readonly what: ReactNode
  readonly since: string | number | undefined
  readonly message: string
  readonly children: ReactNode
}

function Item({ title, what, since, message, children }: ItemProps) {
  return (
    <li>
      <p>
        <strong>{title}</strong> {what}
        {since !== undefined && since !== 0 && (
          <span className="quiet">
            {' '}
            since <Ago at={since} />
          </span>
        )}
      </p>
      {message !== '' && (
        <p className="quiet">
          <Words text={message} />
        </p>
      )}
      {children}
    </li>
  )
}

function AttentionRow({ item, facts }: { readonly item: AttentionItem; readonly facts: InboxFacts }) {
  const { kind, namespace, name, message, since, command } = item
  const title = namespace === undefined ? name : `${namespace}/${name}`
  const link = linkOf(item)
  return (
    <Item
      title={link === undefined ? title : <Link href={link}>{title}</Link>}
      what={
        <>
          {nounOf(kind)} <State state={stateOfItem(kind)} />
        </>
      }
      since={since}
      message={message}
    >
      <ItemButtons item={item} facts={facts} />
      <Command>{command}</Command>
    </Item>
  )
}
