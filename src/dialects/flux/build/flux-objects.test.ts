import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOfFlux } from './flux-objects.ts'

const object = (apiVersion: string, kind: string, name = 'a', labels?: Record<string, string>) => ({
  apiVersion,
  kind,
  metadata: { name, ...(labels && { labels }) },
})

test('kinds of Flux, their definitions and its installation are its own; the rest is not', () => {
  assert.equal(isOfFlux(object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization')), true)
  assert.equal(isOfFlux(object('notification.toolkit.fluxcd.io/v1beta3', 'Alert')), true)
  assert.equal(isOfFlux(object('source.extensions.fluxcd.io/v1beta1', 'ArtifactGenerator')), true)
  const crd = 'gitrepositories.source.toolkit.fluxcd.io'
  assert.equal(isOfFlux(object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', crd)), true)
  const monitor = { 'app.kubernetes.io/part-of': 'flux', 'app.kubernetes.io/component': 'monitoring' }
  assert.equal(isOfFlux(object('monitoring.coreos.com/v1', 'PodMonitor', 'flux-system', monitor)), false)
  const part = {
    'app.kubernetes.io/part-of': 'flux',
    'app.kubernetes.io/instance': 'flux-system',
    'app.kubernetes.io/version': 'v2.9.0',
  }
  assert.equal(isOfFlux(object('apps/v1', 'Deployment', 'source-controller', part)), true)
  assert.equal(isOfFlux(object('v1', 'Namespace', 'flux-system', part)), true)
  assert.equal(isOfFlux(object('v1', 'Namespace', 'flux-system')), false)
  assert.equal(isOfFlux(object('kustomize.config.k8s.io/v1beta1', 'Kustomization')), false)
  assert.equal(isOfFlux(object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'a.example.com')), false)
  assert.equal(isOfFlux(object('toolkit.fluxcd.io.example.com/v1', 'Thing')), false)
})
