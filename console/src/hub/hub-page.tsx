/** The hub itself: its parts, its store, gateways, traffic, certificates and the versions of agents. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { Lease } from '../../../src/kinds/builtin/coordination.ts'
import type { ConfigMap } from '../../../src/kinds/builtin/core.ts'
import { parseTime } from '../../../src/core/time/time.ts'
import { authorityProblem, HUB_HEALTH, parseHubHealth, partNoun } from '../../../src/plan/fleet/hub-health.ts'
import { read, readText } from '../data/api.ts'
import { useList, useObject } from '../data/queries.ts'
import { useLive, useNow } from '../data/use-live.ts'
import { Command, Empty, Facts, Failure, Panel } from '../ui/parts.tsx'
import { Ago } from '../ui/time.tsx'
import { bytesText, countsOf, meanMs, readMetrics, sumOf } from './hub-numbers.ts'
import type { Metrics } from './hub-numbers.ts'
import { scrollable } from '../ui/scrollable.ts'

const POLL_MS = 10_000

export function HubPage() {
  const version = useQuery({
    queryKey: ['version'],
    queryFn: ({ signal }) => read<{ gitVersion?: string }>('/version', signal),
  })
  return (
    <div className="page">
      <h1 className="hidden">Hub</h1>
      <Parts version={version.data?.gitVersion} />
      <Numbers />
      <Gateways />
      <Agents />
      <p className="as-command">
        <Command>flotilla check --hub</Command>
      </p>
    </div>
  )
}

const PART_SIGNS = { Running: ['✔', 'good'], Unstable: ['!', 'odd'], Down: ['✗', 'bad'] } as const

function Parts({ version }: { readonly version: string | undefined }) {
  const { data, error, isPending } = useObject<ConfigMap>('configmaps', HUB_HEALTH.name, HUB_HEALTH.namespace)
  const now = useNow()
  if (error) {
    return (
      <Panel title="Parts of the hub">
        <Failure error={error} what="the health of the hub" />
      </Panel>
    )
  }
  if (isPending) return <Empty title="Reading the health of the hub…" />
  const hubs = Object.entries(data.data ?? {}).map(([name, text]) => ({ name, health: parseHubHealth(text) }))
  return (
    <>
      {hubs.map(({ name, health }) => (
        <Panel key={name} title={hubs.length > 1 ? `Hub "${name}"` : 'Parts of the hub'}>
          {!health ? (
            <Empty title="The health of this hub has a form that this version does not know." />
          ) : (
            <>
              <div className="scroll-x" ref={scrollable}>
                <table className="plain">
                  <thead>
                    <tr>
                      <th>Part</th>
                      <th>State</th>
                      <th>Restarts</th>
                      <th>Last end</th>
                    </tr>
                  </thead>
                  <tbody>
                    {health.parts.map(({ name: part, state, restarts, last }) => (
                      <tr key={part} data-part={part}>
                        <td>{partNoun(part)}</td>
                        <td>
                          <span className="state" data-tone={PART_SIGNS[state][1]}>
                            <span aria-hidden="true">{PART_SIGNS[state][0]}</span> {state}
                          </span>
                        </td>
                        <td>{restarts}</td>
                        <td className="wide">
                          {last ? (
                            <>
                              <Ago at={last.at} />: {last.message}
                            </>
                          ) : (
                            <span className="quiet">none</span>
                          )}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
              <Facts
                facts={[
                  ['Version', version ?? 'unknown'],
                  ['Started', <Ago key="started" at={health.startedAt} />],
                  ...(health.authorities ?? []).map(
                    ({ name: ca, notAfter }) => [`The ${ca} CA ends`, <Ago key={ca} at={notAfter} />] as const,
                  ),
                ]}
              />
              {(health.authorities ?? []).flatMap((authority) => {
                const problem = authorityProblem(authority, now)
                return problem === undefined ? [] : [<p key={authority.name}>{problem}</p>]
              })}
            </>
          )}
        </Panel>
      ))}
      {hubs.length === 0 && <Empty title="The hub has not published its health yet." />}
    </>
  )
}

function numberText(value: number | undefined, write: (value: number) => string = (n) => n.toLocaleString('en')) {
  return value === undefined ? 'unknown' : write(value)
}

function factsOf(metrics: Metrics): readonly (readonly [string, string])[] {
  const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
  const sum = (name: string, labels?: Readonly<Record<string, string>>) => sumOf(metrics, name, labels)
  return [
    ['Store', numberText(sum('flotilla_store_bytes'), bytesText)],
    ['Revision', numberText(sum('flotilla_store_revision'))],
    ['Commits', numberText(sum('flotilla_store_commits_total', { result: 'committed' }))],
    ['Mean time of a commit', numberText(meanMs(metrics, 'flotilla_store_commit_seconds'), ms)],
    ['Requests to the API', numberText(sum('flotilla_api_requests_total'))],
    ['Mean time of a request', numberText(meanMs(metrics, 'flotilla_api_request_seconds'), ms)],
    ['API received', numberText(sum('flotilla_api_received_bytes_total'), bytesText)],
    ['API sent', numberText(sum('flotilla_api_sent_bytes_total'), bytesText)],
    ['Streams to agents', numberText(sum('flotilla_gateway_streams'))],
    ['Received from agents', numberText(sum('flotilla_gateway_received_bytes_total'), bytesText)],
    ['Sent to agents', numberText(sum('flotilla_gateway_sent_bytes_total'), bytesText)],
    ['Memory', numberText(sum('process_resident_memory_bytes'), bytesText)],
    ['Delay of the event loop', numberText(sum('nodejs_eventloop_lag_p99_seconds'), (value) => ms(1000 * value))],
    ['Lost records of journals', numberText(sum('flotilla_journal_lost_records_total'))],
  ]
}

function Numbers() {
  const { data, error, isPending } = useQuery({
    queryKey: ['metrics'],
    refetchInterval: POLL_MS,
    queryFn: async ({ signal }) => readMetrics(await readText('/console/metrics', { signal })),
  })
  return (
    <Panel title="Store and traffic" side={<span className="quiet">since the start of this hub</span>}>
      {error && <Failure error={error} what="the numbers of the hub" />}
      {isPending && !error && <Empty title="Reading the numbers…" />}
      {data && <Facts facts={factsOf(data)} />}
    </Panel>
  )
}

/** A gateway renews its Lease every ten seconds. */
const LOST_MS = 60_000

function Gateways() {
  const { data, error, isPending } = useList<Lease>('leases', {
    namespace: HUB_HEALTH.namespace,
    labels: 'flotilla.dev/gateway',
  })
  const now = useNow()
  return (
    <Panel title="Gateways">
      {error && <Failure error={error} what="the gateways" />}
      {isPending && !error && <Empty title="Reading the gateways…" />}
      {data?.length === 0 && <Empty title="No gateway has announced itself." />}
      {data && data.length > 0 && (
        <div className="scroll-x" ref={scrollable}>
          <table className="plain">
            <thead>
              <tr>
                <th>Gateway</th>
                <th>State</th>
                <th>Last sign of life</th>
              </tr>
            </thead>
            <tbody>
              {data.map(({ metadata, spec }) => {
                const heardMs = parseTime(spec?.renewTime ?? '')
                const isAlive = heardMs !== undefined && now - heardMs < LOST_MS
                return (
                  <tr key={metadata.name} data-gateway={metadata.name}>
                    <td>{metadata.name}</td>
                    <td>
                      <span className="state" data-tone={isAlive ? 'good' : 'bad'}>
                        <span aria-hidden="true">{isAlive ? '✔' : '✗'}</span> {isAlive ? 'Running' : 'Silent'}
                      </span>
                    </td>
                    <td>
                      <Ago at={spec?.renewTime ?? undefined} />
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  )
}

const SOON_S = 7 * 86_400

/** Versions and certificates of agents, from the list of clusters. */
function Agents() {
  const { fleet, link } = useLive()
  const now = useNow()
  const rows = useMemo(() => fleet.rows.filter(({ isApart }) => !isApart), [fleet])
  const expiring = rows
    .filter(({ certificate }) => certificate > 0 && certificate - now / 1000 < SOON_S)
    .toSorted((a, b) => a.certificate - b.certificate)
  if (link === 'refused') return null
  const versions = countsOf(rows.map(({ agent }) => agent))
  return (
    <Panel title="Agents">
      <Facts
        facts={[
          ...versions.map(
            ([version, count]) =>
              [
                version === '' ? 'Version not reported' : `Version ${version}`,
                `${count} ${count === 1 ? 'cluster' : 'clusters'}`,
              ] as const,
          ),
          ['Certificates that end in 7 days', String(expiring.length)],
        ]}
      />
      {expiring.length > 0 && (
        <ul className="not-here">
          {expiring.slice(0, 20).map(({ name, certificate }) => (
            <li key={name}>
              <Link href={`/clusters/${name}`}>{name}</Link> <Ago at={certificate} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
