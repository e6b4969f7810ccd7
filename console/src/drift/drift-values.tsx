/** A button that asks the agent for the values of drifted fields, and the values side by side when they come. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import type { ClusterReport } from '../../../src/kinds/native/cluster-report.ts'
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import type { DriftValues } from '../../../src/plan/drift/drift-values.ts'
import { ActionButton } from '../actions/action-button.tsx'
import { revealAction } from '../actions/drift-actions.ts'
import { useMay } from '../data/access.ts'
import { useObject } from '../data/queries.ts'
import { scrollable } from '../ui/scrollable.ts'
import { Ago } from '../ui/time.tsx'
import { keyOfTab, openSealedValues } from './sealed-values.ts'
import type { RequestKey } from './sealed-values.ts'

export interface RevealProps {
  readonly cluster: string
  /** `namespace/name`. */
  readonly bundle: string
}

/** Actions on drift with the button that asks for values, and below them the values once they came. */
export function DriftValuesOf({ cluster, bundle, children }: RevealProps & { readonly children: ReactNode }) {
  const [isAsked, setAsked] = useState(false)
  const may = useMay({ verb: 'patch', resource: 'clusters' })
  const { data: key } = useQuery({ queryKey: ['key-of-tab'], queryFn: keyOfTab })
  return (
    <>
      <span className="actions">
        {children}
        {key && (
          <ActionButton
            action={revealAction(cluster, bundle, { key: key.publicKey, mayAsk: may.isAllowed !== false })}
            onDone={() => setAsked(true)}
          />
        )}
      </span>
      {isAsked && key && <Answer cluster={cluster} bundle={bundle} requestKey={key} />}
    </>
  )
}

interface Opened {
  readonly asked: string
  readonly values: DriftValues
}

function Answer({ cluster, bundle, requestKey }: RevealProps & { readonly requestKey: RequestKey }) {
  const asking = useObject<Cluster>('clusters', cluster).data?.spec
  const report = useObject<ClusterReport>('clusterreports', cluster).data?.spec
  const [opened, setOpened] = useState<Opened>()
  const [problem, setProblem] = useState('')
  const question = asking?.valuesAsked
  const isOwn = question?.key === requestKey.publicKey && question.bundle === bundle
  const asked = isOwn ? question.at : undefined
  const answer = report?.values
  const clusterId = asking?.id
  const sealed =
    answer !== undefined && answer.asked === asked && answer.key === requestKey.publicKey ? answer.sealed : undefined
  useEffect(() => {
    if (asked === undefined || sealed === undefined || clusterId === undefined) return
    openSealedValues({ clusterId, bundle, asked }, sealed, requestKey).then(
      (values) => setOpened({ asked, values }),
      () => setProblem('The values cannot be opened with the key of this tab.'),
    )
  }, [asked, sealed, clusterId, bundle, requestKey])
  const isWaiting = isOwn && opened?.asked !== asked
  return (
    <div className="values" data-values={cluster}>
      {problem !== '' && <p className="failure">{problem}</p>}
      {isWaiting && problem === '' && (
        <p role="status">The agent sends the values at its next contact, within {asking?.checkInSeconds} s.</p>
      )}
      {question !== undefined && !isOwn && opened === undefined && (
        <p role="status">Another request replaced this one. Ask again.</p>
      )}
      {opened && <Values {...opened} />}
    </div>
  )
}

function Values({ asked, values: { objects, more = 0 } }: Opened) {
  if (objects.length === 0) return <p role="status">The drift is gone.</p>
  return (
    <>
      <div className="scroll-x" ref={scrollable}>
        <table className="plain side-by-side">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Delivered</th>
              <th scope="col">Live</th>
            </tr>
          </thead>
          <tbody>
            {objects.flatMap(({ object, fields }) =>
              fields.map(({ field, delivered, live, hidden }) => (
                <tr key={`${object} ${field}`} data-field={field}>
                  <th scope="row">
                    <span className="quiet">{object}</span> <code>{field}</code>
                  </th>
                  {hidden ? (
                    <td colSpan={2}>hidden, because it can be secret</td>
                  ) : (
                    <>
                      <td data-side="delivered">
                        <Value text={delivered} />
                      </td>
                      <td data-side="live">
                        <Value text={live} />
                      </td>
                    </>
                  )}
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
      <p className="quiet">
        As of <Ago at={asked} />.{more > 0 && ` ${more} further ${more === 1 ? 'field' : 'fields'} did not fit.`}
      </p>
    </>
  )
}

function Value({ text }: { readonly text: string | undefined }) {
  return text === undefined ? <span className="quiet">absent</span> : <code className="value">{text}</code>
}
