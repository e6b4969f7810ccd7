/** Signed in: the shell with the page of the address. Otherwise: how to sign in. */
import { useEffect, useState } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import { ClusterPage } from '../cluster/cluster-page.tsx'
import { ApiFailure, onSignedOut, read } from '../data/api.ts'
import { connect, disconnect } from '../data/live.ts'
import { queries } from '../data/queries.ts'
import { FleetPage } from '../fleet/fleet-page.tsx'
import { InboxPage } from '../inbox/inbox-page.tsx'
import { RolloutPage } from '../rollouts/rollout-page.tsx'
import { RolloutsPage } from '../rollouts/rollouts-page.tsx'
import { BundlesPage } from '../rollouts/bundles-page.tsx'
import { Empty } from '../ui/parts.tsx'
import { SessionsPage } from './sessions-page.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

type Access = 'asking' | 'in' | 'out' | 'unreachable'

export function App() {
  const [access, setAccess] = useState<Access>('asking')
  useEffect(() => onSignedOut(() => setAccess('out')), [])
  useEffect(() => {
    if (access !== 'asking') return
    read('/console/session').then(
      () => setAccess('in'),
      (caught: unknown) => setAccess(caught instanceof ApiFailure && caught.code === 0 ? 'unreachable' : 'out'),
    )
  }, [access])
  useEffect(() => {
    if (access !== 'in') return undefined
    void connect()
    return () => {
      disconnect()
      queries.clear()
    }
  }, [access])
  if (access === 'asking') return null
  if (access === 'unreachable') {
    return (
      <main className="alone">
        <Empty title="The hub does not answer.">
          Check that the hub runs, then <button onClick={() => setAccess('asking')}>try again</button>.
        </Empty>
      </main>
    )
  }
  if (access === 'out') return <SignIn onSignedIn={() => setAccess('in')} />
  return (
    <Shell>
      <Switch>
        <Route path="/">
          <Redirect to="/fleet" replace />
        </Route>
        <Route path="/fleet">
          <FleetPage />
        </Route>
        <Route path="/clusters/:name">{({ name }) => <ClusterPage name={name} key={name} />}</Route>
        <Route path="/inbox">
          <InboxPage />
        </Route>
        <Route path="/rollouts/:namespace/:name">
          {({ namespace, name }) => <RolloutPage namespace={namespace} name={name} key={`${namespace}/${name}`} />}
        </Route>
        <Route path="/rollouts">
          <RolloutsPage />
        </Route>
        <Route path="/bundles">
          <BundlesPage />
        </Route>
        <Route path="/sessions">
          <SessionsPage />
        </Route>
        <Route>
          <Empty title="There is no such page.">
            Choose a page in the navigation, or press <kbd>/</kbd> to search.
          </Empty>
        </Route>
      </Switch>
    </Shell>
  )
}
