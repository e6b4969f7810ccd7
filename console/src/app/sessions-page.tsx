/** The user's own sessions, each with a button that ends it. */
import { useMutation, useQuery } from '@tanstack/react-query'
import type { SessionRow } from '../../../src/hub/console/session-row.ts'
import { read, send } from '../data/api.ts'
import { queries } from '../data/queries.ts'
import { Button, Empty, Failure, Panel } from '../ui/parts.tsx'
import { Ago } from '../ui/time.tsx'
import { scrollable } from '../ui/scrollable.ts'

const METHODS = { code: 'address that works once', token: 'token', oidc: 'single sign-on' } as const

export function SessionsPage() {
  const { data, error } = useQuery({
    queryKey: ['sessions'],
    queryFn: async () => (await read<{ items: readonly SessionRow[] }>('/console/sessions')).items,
  })
  const end = useMutation({
    mutationFn: (id: string) => send(`/console/sessions/${id}`, { method: 'DELETE' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  })
  return (
    <Panel title="Your sessions">
      {error && <Failure error={error} what="your sessions" />}
      {data?.length === 0 && <Empty title="You have no session." />}
      {data && data.length > 0 && (
        <div className="scroll-x" ref={scrollable}>
          <table className="plain">
            <thead>
              <tr>
                <th>Session</th>
                <th>Signed in with</th>
                <th>Opened</th>
                <th>Used</th>
                <th>Ends</th>
                <th>
                  <span className="hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.map(({ id, method, created, used, ends, isThis }) => (
                <tr key={id}>
                  <td>
                    <code>{id}</code> {isThis && <span className="badge">this browser</span>}
                  </td>
                  <td>{METHODS[method]}</td>
                  <td>
                    <Ago at={created} />
                  </td>
                  <td>
                    <Ago at={used} />
                  </td>
                  <td>
                    <Ago at={ends} />
                  </td>
                  <td>
                    <Button onClick={() => end.mutate(id)}>End</Button>
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
