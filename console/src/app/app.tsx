/** Signed in: the shell with the page of the address. Otherwise: how to sign in. */
import { lazy, Suspense, useEffect, useState } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import { ClusterPage } from '../cluster/cluster-page.tsx'
import { read } from '../data/api.ts'
import { ApiFailure, onSignedOut } from '../data/api-failure.ts'
import { connect, disconnect } from '../data/live.ts'
import { queries } from '../data/queries.ts'
import { FleetPage } from '../fleet/fleet-page.tsx'
import { InboxPage } from '../inbox/inbox-page.tsx'
import { RolloutPage } from '../rollouts/rollout-page.tsx'
import { RolloutsPage } from '../rollouts/rollouts-page.tsx'
import { Empty } from '../ui/parts.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

// Pages that are not the first ones are loaded when they are opened.
const AuditPage = lazy(async () => ({ default: (await import('../audit/audit-page.tsx')).AuditPage }))
const BundlePage = lazy(async () => ({ default: (await import('../bundles/bundle-page.tsx')).BundlePage }))
const BundlesPage = lazy(async () => ({ default: (await import('../bundles/bundles-page.tsx')).BundlesPage }))
const DriftPage = lazy(async () => ({ default: (await import('../drift/drift-page.tsx')).DriftPage }))
const PlacementPage = lazy(async () => ({ default: (await import('../placements/placement-page.tsx')).PlacementPage }))
const PlacementsPage = lazy(async () => ({
  default: (await import('../placements/placements-page.tsx')).PlacementsPage,
}))
const CompliancePage = lazy(async () => ({
  default: (await import('../compliance/compliance-page.tsx')).CompliancePage,
}))
const GuardrailsPage = lazy(async () => ({
  default: (await import('../guardrails/guardrails-page.tsx')).GuardrailsPage,
}))
const HubPage = lazy(async () => ({ default: (await import('../hub/hub-page.tsx')).HubPage }))
const SessionsPage = lazy(async () => ({ default: (await import('./sessions-page.tsx')).SessionsPage }))

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
      <Suspense fallback={<Empty title="Loading the page…" />}>
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
          <Route path="/bundles/:namespace/:name">
            {({ namespace, name }) => <BundlePage namespace={namespace} name={name} key={`${namespace}/${name}`} />}
          </Route>
          <Route path="/placements/:namespace/:name">
            {({ namespace, name }) => <PlacementPage namespace={namespace} name={name} key={`${namespace}/${name}`} />}
          </Route>
          <Route path="/placements">
            <PlacementsPage />
          </Route>
          <Route path="/drift">
            <DriftPage />
          </Route>
          <Route path="/bundles">
            <BundlesPage />
          </Route>
          <Route path="/guardrails">
            <GuardrailsPage />
          </Route>
          <Route path="/compliance">
            <CompliancePage />
          </Route>
          <Route path="/audit-log">
            <AuditPage />
          </Route>
          <Route path="/hub">
            <HubPage />
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
      </Suspense>
    </Shell>
  )
}
