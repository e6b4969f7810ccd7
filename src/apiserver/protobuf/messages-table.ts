/** Written by scripts/protobuf-messages.ts from k8s.io/api v0.36.3; how to read it: messages.ts. */

/** Every message: its name, then its fields with number, name and type. */
export const MESSAGE_LINES = `
admissionregistration.ApplyConfiguration: 1 expression string
admissionregistration.AuditAnnotation: 1 key keep string, 2 valueExpression keep string
admissionregistration.ExpressionWarning: 2 fieldRef keep string, 3 warning keep string
admissionregistration.JSONPatch: 1 expression string
admissionregistration.MatchCondition: 1 name keep string, 2 expression keep string
admissionregistration.MatchResources: 1 namespaceSelector meta.LabelSelector, 2 objectSelector meta.LabelSelector, 3 resourceRules list admissionregistration.NamedRuleWithOperations, 4 excludeResourceRules list admissionregistration.NamedRuleWithOperations, 7 matchPolicy keep string
admissionregistration.MutatingAdmissionPolicy: 1 metadata meta.ObjectMeta, 2 spec admissionregistration.MutatingAdmissionPolicySpec
admissionregistration.MutatingAdmissionPolicyBinding: 1 metadata meta.ObjectMeta, 2 spec admissionregistration.MutatingAdmissionPolicyBindingSpec
admissionregistration.MutatingAdmissionPolicyBindingSpec: 1 policyName string, 2 paramRef admissionregistration.ParamRef, 3 matchResources admissionregistration.MatchResources
admissionregistration.MutatingAdmissionPolicySpec: 1 paramKind admissionregistration.ParamKind, 2 matchConstraints admissionregistration.MatchResources, 3 variables list admissionregistration.Variable, 4 mutations list admissionregistration.Mutation, 5 failurePolicy keep string, 6 matchConditions list admissionregistration.MatchCondition, 7 reinvocationPolicy string
admissionregistration.MutatingWebhook: 1 name keep string, 2 clientConfig admissionregistration.WebhookClientConfig, 3 rules list admissionregistration.RuleWithOperations, 4 failurePolicy keep string, 9 matchPolicy keep string, 5 namespaceSelector meta.LabelSelector, 11 objectSelector meta.LabelSelector, 6 sideEffects keep string, 7 timeoutSeconds keep int, 8 admissionReviewVersions list string, 10 reinvocationPolicy keep string, 12 matchConditions list admissionregistration.MatchCondition
admissionregistration.MutatingWebhookConfiguration: 1 metadata meta.ObjectMeta, 2 webhooks list admissionregistration.MutatingWebhook
admissionregistration.Mutation: 2 patchType keep string, 3 applyConfiguration admissionregistration.ApplyConfiguration, 4 jsonPatch admissionregistration.JSONPatch
admissionregistration.NamedRuleWithOperations: 1 resourceNames list string, 2 . inline admissionregistration.RuleWithOperations
admissionregistration.ParamKind: 1 apiVersion string, 2 kind string
admissionregistration.ParamRef: 1 name string, 2 namespace string, 3 selector meta.LabelSelector, 4 parameterNotFoundAction keep string
admissionregistration.Rule: 1 apiGroups list string, 2 apiVersions list string, 3 resources list string, 4 scope keep string
admissionregistration.RuleWithOperations: 1 operations list string, 2 . inline admissionregistration.Rule
admissionregistration.ServiceReference: 1 namespace keep string, 2 name keep string, 3 path keep string, 4 port keep int
admissionregistration.TypeChecking: 1 expressionWarnings list admissionregistration.ExpressionWarning
admissionregistration.ValidatingAdmissionPolicy: 1 metadata meta.ObjectMeta, 2 spec admissionregistration.ValidatingAdmissionPolicySpec, 3 status admissionregistration.ValidatingAdmissionPolicyStatus
admissionregistration.ValidatingAdmissionPolicyBinding: 1 metadata meta.ObjectMeta, 2 spec admissionregistration.ValidatingAdmissionPolicyBindingSpec
admissionregistration.ValidatingAdmissionPolicyBindingSpec: 1 policyName string, 2 paramRef admissionregistration.ParamRef, 3 matchResources admissionregistration.MatchResources, 4 validationActions list string
admissionregistration.ValidatingAdmissionPolicySpec: 1 paramKind admissionregistration.ParamKind, 2 matchConstraints admissionregistration.MatchResources, 3 validations list admissionregistration.Validation, 4 failurePolicy keep string, 5 auditAnnotations list admissionregistration.AuditAnnotation, 6 matchConditions list admissionregistration.MatchCondition, 7 variables list admissionregistration.Variable
admissionregistration.ValidatingAdmissionPolicyStatus: 1 observedGeneration int, 2 typeChecking admissionregistration.TypeChecking, 3 conditions list meta.Condition
admissionregistration.ValidatingWebhook: 1 name keep string, 2 clientConfig admissionregistration.WebhookClientConfig, 3 rules list admissionregistration.RuleWithOperations, 4 failurePolicy keep string, 9 matchPolicy keep string, 5 namespaceSelector meta.LabelSelector, 10 objectSelector meta.LabelSelector, 6 sideEffects keep string, 7 timeoutSeconds keep int, 8 admissionReviewVersions list string, 11 matchConditions list admissionregistration.MatchCondition
admissionregistration.ValidatingWebhookConfiguration: 1 metadata meta.ObjectMeta, 2 webhooks list admissionregistration.ValidatingWebhook
admissionregistration.Validation: 1 expression keep string, 2 message string, 3 reason keep string, 4 messageExpression string
admissionregistration.Variable: 1 name keep string, 2 expression keep string
admissionregistration.WebhookClientConfig: 3 url keep string, 1 service admissionregistration.ServiceReference, 2 caBundle bytes
apiextensions.CustomResourceColumnDefinition: 1 name keep string, 2 type keep string, 3 format string, 4 description string, 5 priority int, 6 jsonPath keep string
apiextensions.CustomResourceConversion: 1 strategy keep string, 2 webhook apiextensions.WebhookConversion
apiextensions.CustomResourceDefinition: 1 metadata meta.ObjectMeta, 2 spec apiextensions.CustomResourceDefinitionSpec, 3 status apiextensions.CustomResourceDefinitionStatus
apiextensions.CustomResourceDefinitionCondition: 1 type keep string, 2 status keep string, 3 lastTransitionTime time, 4 reason string, 5 message string, 6 observedGeneration int
apiextensions.CustomResourceDefinitionNames: 1 plural keep string, 2 singular string, 3 shortNames list string, 4 kind keep string, 5 listKind string, 6 categories list string
apiextensions.CustomResourceDefinitionSpec: 1 group keep string, 3 names apiextensions.CustomResourceDefinitionNames, 4 scope keep string, 7 versions list apiextensions.CustomResourceDefinitionVersion, 9 conversion apiextensions.CustomResourceConversion, 10 preserveUnknownFields bool
apiextensions.CustomResourceDefinitionStatus: 1 conditions list apiextensions.CustomResourceDefinitionCondition, 2 acceptedNames apiextensions.CustomResourceDefinitionNames, 3 storedVersions list string, 4 observedGeneration int
apiextensions.CustomResourceDefinitionVersion: 1 name keep string, 2 served keep bool, 3 storage keep bool, 7 deprecated bool, 8 deprecationWarning keep string, 4 schema apiextensions.CustomResourceValidation, 5 subresources apiextensions.CustomResourceSubresources, 6 additionalPrinterColumns list apiextensions.CustomResourceColumnDefinition, 9 selectableFields list apiextensions.SelectableField
apiextensions.CustomResourceSubresourceScale: 1 specReplicasPath keep string, 2 statusReplicasPath keep string, 3 labelSelectorPath keep string
apiextensions.CustomResourceSubresourceStatus:
apiextensions.CustomResourceSubresources: 1 status apiextensions.CustomResourceSubresourceStatus, 2 scale apiextensions.CustomResourceSubresourceScale
apiextensions.CustomResourceValidation: 1 openAPIV3Schema apiextensions.JSONSchemaProps
apiextensions.ExternalDocumentation: 1 description string, 2 url string
apiextensions.JSONSchemaProps: 1 id string, 2 $schema string, 3 $ref keep string, 4 description string, 5 type string, 6 format string, 7 title string, 8 default keep anyJson, 9 maximum keep double, 10 exclusiveMaximum bool, 11 minimum keep double, 12 exclusiveMinimum bool, 13 maxLength keep int, 14 minLength keep int, 15 pattern string, 16 maxItems keep int, 17 minItems keep int, 18 uniqueItems bool, 19 multipleOf keep double, 20 enum list anyJson, 21 maxProperties keep int, 22 minProperties keep int, 23 required list string, 24 items keep schemaOrArray, 25 allOf list apiextensions.JSONSchemaProps, 26 oneOf list apiextensions.JSONSchemaProps, 27 anyOf list apiextensions.JSONSchemaProps, 28 not apiextensions.JSONSchemaProps, 29 properties map apiextensions.JSONSchemaProps, 30 additionalProperties keep schemaOrBool, 31 patternProperties map apiextensions.JSONSchemaProps, 32 dependencies map schemaOrStrings, 33 additionalItems keep schemaOrBool, 34 definitions map apiextensions.JSONSchemaProps, 35 externalDocs apiextensions.ExternalDocumentation, 36 example keep anyJson, 37 nullable bool, 38 x-kubernetes-preserve-unknown-fields keep bool, 39 x-kubernetes-embedded-resource bool, 40 x-kubernetes-int-or-string bool, 41 x-kubernetes-list-map-keys list string, 42 x-kubernetes-list-type keep string, 43 x-kubernetes-map-type keep string, 44 x-kubernetes-validations list apiextensions.ValidationRule
apiextensions.SelectableField: 1 jsonPath keep string
apiextensions.ServiceReference: 1 namespace keep string, 2 name keep string, 3 path keep string, 4 port keep int
apiextensions.ValidationRule: 1 rule keep string, 2 message string, 3 messageExpression string, 4 reason keep string, 5 fieldPath string, 6 optionalOldSelf keep bool
apiextensions.WebhookClientConfig: 3 url keep string, 1 service apiextensions.ServiceReference, 2 caBundle bytes
apiextensions.WebhookConversion: 2 clientConfig apiextensions.WebhookClientConfig, 3 conversionReviewVersions list string
apiregistration.APIService: 1 metadata meta.ObjectMeta, 2 spec apiregistration.APIServiceSpec, 3 status apiregistration.APIServiceStatus
apiregistration.APIServiceCondition: 1 type keep string, 2 status keep string, 3 lastTransitionTime time, 4 reason string, 5 message string
apiregistration.APIServiceSpec: 1 service apiregistration.ServiceReference, 2 group string, 3 version string, 4 insecureSkipTLSVerify bool, 5 caBundle bytes, 7 groupPriorityMinimum keep int, 8 versionPriority keep int
apiregistration.APIServiceStatus: 1 conditions list apiregistration.APIServiceCondition
apiregistration.ServiceReference: 1 namespace string, 2 name string, 3 port keep int
apps.ControllerRevision: 1 metadata meta.ObjectMeta, 2 data json, 3 revision keep int
apps.DaemonSet: 1 metadata meta.ObjectMeta, 2 spec apps.DaemonSetSpec, 3 status apps.DaemonSetStatus
apps.DaemonSetCondition: 1 type keep string, 2 status keep string, 3 lastTransitionTime time, 4 reason string, 5 message string
apps.DaemonSetSpec: 1 selector meta.LabelSelector, 2 template core.PodTemplateSpec, 3 updateStrategy apps.DaemonSetUpdateStrategy, 4 minReadySeconds int, 6 revisionHistoryLimit keep int
apps.DaemonSetStatus: 1 currentNumberScheduled keep int, 2 numberMisscheduled keep int, 3 desiredNumberScheduled keep int, 4 numberReady keep int, 5 observedGeneration int, 6 updatedNumberScheduled int, 7 numberAvailable int, 8 numberUnavailable int, 9 collisionCount keep int, 10 conditions list apps.DaemonSetCondition
apps.DaemonSetUpdateStrategy: 1 type string, 2 rollingUpdate apps.RollingUpdateDaemonSet
apps.Deployment: 1 metadata meta.ObjectMeta, 2 spec apps.DeploymentSpec, 3 status apps.DeploymentStatus
apps.DeploymentCondition: 1 type keep string, 2 status keep string, 6 lastUpdateTime time, 7 lastTransitionTime time, 4 reason string, 5 message string
apps.DeploymentSpec: 1 replicas keep int, 2 selector meta.LabelSelector, 3 template core.PodTemplateSpec, 4 strategy apps.DeploymentStrategy, 5 minReadySeconds int, 6 revisionHistoryLimit keep int, 7 paused bool, 9 progressDeadlineSeconds keep int
apps.DeploymentStatus: 1 observedGeneration int, 2 replicas int, 3 updatedReplicas int, 7 readyReplicas int, 4 availableReplicas int, 5 unavailableReplicas int, 9 terminatingReplicas keep int, 6 conditions list apps.DeploymentCondition, 8 collisionCount keep int
apps.DeploymentStrategy: 1 type string, 2 rollingUpdate apps.RollingUpdateDeployment
apps.ReplicaSet: 1 metadata meta.ObjectMeta, 2 spec apps.ReplicaSetSpec, 3 status apps.ReplicaSetStatus
apps.ReplicaSetCondition: 1 type keep string, 2 status keep string, 3 lastTransitionTime time, 4 reason string, 5 message string
apps.ReplicaSetSpec: 1 replicas keep int, 4 minReadySeconds int, 2 selector meta.LabelSelector, 3 template core.PodTemplateSpec
apps.ReplicaSetStatus: 1 replicas keep int, 2 fullyLabeledReplicas int, 4 readyReplicas int, 5 availableReplicas int, 7 terminatingReplicas keep int, 3 observedGeneration int, 6 conditions list apps.ReplicaSetCondition
apps.RollingUpdateDaemonSet: 1 maxUnavailable keep intOrString, 2 maxSurge keep intOrString
apps.RollingUpdateDeployment: 1 maxUnavailable keep intOrString, 2 maxSurge keep intOrString
apps.RollingUpdateStatefulSetStrategy: 1 partition keep int, 2 maxUnavailable keep intOrString
apps.StatefulSet: 1 metadata meta.ObjectMeta, 2 spec apps.StatefulSetSpec, 3 status apps.StatefulSetStatus
apps.StatefulSetCondition: 1 type keep string, 2 status keep string, 3 lastTransitionTime time, 4 reason string, 5 message string
apps.StatefulSetOrdinals: 1 start keep int
apps.StatefulSetPersistentVolumeClaimRetentionPolicy: 1 whenDeleted string, 2 whenScaled string
apps.StatefulSetSpec: 1 replicas keep int, 2 selector meta.LabelSelector, 3 template core.PodTemplateSpec, 4 volumeClaimTemplates list core.PersistentVolumeClaim, 5 serviceName keep string, 6 podManagementPolicy string, 7 updateStrategy apps.StatefulSetUpdateStrategy, 8 revisionHistoryLimit keep int, 9 minReadySeconds int, 10 persistentVolumeClaimRetentionPolicy apps.StatefulSetPersistentVolumeClaimRetentionPolicy, 11 ordinals apps.StatefulSetOrdinals
apps.StatefulSetStatus: 1 observedGeneration int, 2 replicas keep int, 3 readyReplicas int, 4 currentReplicas int, 5 updatedReplicas int, 6 currentRevision string, 7 updateRevision string, 9 collisionCount keep int, 10 conditions list apps.StatefulSetCondition, 11 availableReplicas keep int
apps.StatefulSetUpdateStrategy: 1 type string, 2 rollingUpdate apps.RollingUpdateStatefulSetStrategy
authentication.BoundObjectReference: 1 kind string, 2 apiVersion string, 3 name string, 4 uid string
authentication.SelfSubjectReview: 1 metadata meta.ObjectMeta, 2 status authentication.SelfSubjectReviewStatus
authentication.SelfSubjectReviewStatus: 1 userInfo authentication.UserInfo
authentication.TokenRequest: 1 metadata meta.ObjectMeta, 2 spec authentication.TokenRequestSpec, 3 status authentication.TokenRequestStatus
authentication.TokenRequestSpec: 1 audiences list string, 4 expirationSeconds keep int, 3 boundObjectRef authentication.BoundObjectReference
authentication.TokenRequestStatus: 1 token keep string, 2 expirationTimestamp keep time
authentication.TokenReview: 1 metadata meta.ObjectMeta, 2 spec authentication.TokenReviewSpec, 3 status authentication.TokenReviewStatus
authentication.TokenReviewSpec: 1 token string, 2 audiences list string
authentication.TokenReviewStatus: 1 authenticated bool, 2 user authentication.UserInfo, 4 audiences list string, 3 error string
authentication.UserInfo: 1 username string, 2 uid string, 3 groups list string, 4 extra map strings
authorization.FieldSelectorAttributes: 1 rawSelector string, 2 requirements list meta.FieldSelectorRequirement
authorization.LabelSelectorAttributes: 1 rawSelector string, 2 requirements list meta.LabelSelectorRequirement
authorization.LocalSubjectAccessReview: 1 metadata meta.ObjectMeta, 2 spec authorization.SubjectAccessReviewSpec, 3 status authorization.SubjectAccessReviewStatus
authorization.NonResourceAttributes: 1 path string, 2 verb string
authorization.NonResourceRule: 1 verbs list string, 2 nonResourceURLs list string
authorization.ResourceAttributes: 1 namespace string, 2 verb string, 3 group string, 4 version string, 5 resource string, 6 subresource string, 7 name string, 8 fieldSelector authorization.FieldSelectorAttributes, 9 labelSelector authorization.LabelSelectorAttributes
authorization.ResourceRule: 1 verbs list string, 2 apiGroups list string, 3 resources list string, 4 resourceNames list string
authorization.SelfSubjectAccessReview: 1 metadata meta.ObjectMeta, 2 spec authorization.SelfSubjectAccessReviewSpec, 3 status authorization.SubjectAccessReviewStatus
authorization.SelfSubjectAccessReviewSpec: 1 resourceAttributes authorization.ResourceAttributes, 2 nonResourceAttributes authorization.NonResourceAttributes
authorization.SelfSubjectRulesReview: 1 metadata meta.ObjectMeta, 2 spec authorization.SelfSubjectRulesReviewSpec, 3 status authorization.SubjectRulesReviewStatus
authorization.SelfSubjectRulesReviewSpec: 1 namespace string
authorization.SubjectAccessReview: 1 metadata meta.ObjectMeta, 2 spec authorization.SubjectAccessReviewSpec, 3 status authorization.SubjectAccessReviewStatus
authorization.SubjectAccessReviewSpec: 1 resourceAttributes authorization.ResourceAttributes, 2 nonResourceAttributes authorization.NonResourceAttributes, 3 user string, 4 groups list string, 5 extra map strings, 6 uid string
authorization.SubjectAccessReviewStatus: 1 allowed keep bool, 4 denied bool, 2 reason string, 3 evaluationError string
authorization.SubjectRulesReviewStatus: 1 resourceRules list authorization.ResourceRule, 2 nonResourceRules list authorization.NonResourceRule, 3 incomplete keep bool, 4 evaluationError string
autoscaling.CrossVersionObjectReference: 1 kind keep string, 2 name keep string, 3 apiVersion string
autoscaling.HorizontalPodAutoscaler: 1 metadata meta.ObjectMeta, 2 spec autoscaling.HorizontalPodAutoscalerSpec, 3 status autoscaling.HorizontalPodAutoscalerStatus
autoscaling.HorizontalPodAutoscalerSpec: 1 scaleTargetRef autoscaling.CrossVersionObjectReference, 2 minReplicas keep int, 3 maxReplicas keep int, 4 targetCPUUtilizationPercentage keep int
autoscaling.HorizontalPodAutoscalerStatus: 1 observedGeneration keep int, 2 lastScaleTime keep time, 3 currentReplicas keep int, 4 desiredReplicas keep int, 5 currentCPUUtilizationPercentage keep int
autoscaling.Scale: 1 metadata meta.ObjectMeta, 2 spec autoscaling.ScaleSpec, 3 status autoscaling.ScaleStatus
autoscaling.ScaleSpec: 1 replicas int
autoscaling.ScaleStatus: 1 replicas keep int, 2 selector string
autoscaling2.ContainerResourceMetricSource: 1 name keep string, 2 target autoscaling2.MetricTarget, 3 container keep string
autoscaling2.ContainerResourceMetricStatus: 1 name keep string, 2 current autoscaling2.MetricValueStatus, 3 container keep string
autoscaling2.CrossVersionObjectReference: 1 kind keep string, 2 name keep string, 3 apiVersion string
autoscaling2.ExternalMetricSource: 1 metric autoscaling2.MetricIdentifier, 2 target autoscaling2.MetricTarget
autoscaling2.ExternalMetricStatus: 1 metric autoscaling2.MetricIdentifier, 2 current autoscaling2.MetricValueStatus
autoscaling2.HPAScalingPolicy: 1 type keep string, 2 value keep int, 3 periodSeconds keep int
autoscaling2.HPAScalingRules: 3 stabilizationWindowSeconds keep int, 1 selectPolicy keep string, 2 policies list autoscaling2.HPAScalingPolicy, 4 tolerance keep quantity
autoscaling2.HorizontalPodAutoscaler: 1 metadata meta.ObjectMeta, 2 spec autoscaling2.HorizontalPodAutoscalerSpec, 3 status autoscaling2.HorizontalPodAutoscalerStatus
autoscaling2.HorizontalPodAutoscalerBehavior: 1 scaleUp autoscaling2.HPAScalingRules, 2 scaleDown autoscaling2.HPAScalingRules
autoscaling2.HorizontalPodAutoscalerCondition: 1 type keep string, 2 status keep string, 3 lastTransitionTime time, 4 reason string, 5 message string
autoscaling2.HorizontalPodAutoscalerSpec: 1 scaleTargetRef autoscaling2.CrossVersionObjectReference, 2 minReplicas keep int, 3 maxReplicas keep int, 4 metrics list autoscaling2.MetricSpec, 5 behavior autoscaling2.HorizontalPodAutoscalerBehavior
autoscaling2.HorizontalPodAutoscalerStatus: 1 observedGeneration keep int, 2 lastScaleTime keep time, 3 currentReplicas int, 4 desiredReplicas keep int, 5 currentMetrics list autoscaling2.MetricStatus, 6 conditions list autoscaling2.HorizontalPodAutoscalerCondition
autoscaling2.MetricIdentifier: 1 name keep string, 2 selector meta.LabelSelector
autoscaling2.MetricSpec: 1 type keep string, 2 object autoscaling2.ObjectMetricSource, 3 pods autoscaling2.PodsMetricSource, 4 resource autoscaling2.ResourceMetricSource, 7 containerResource autoscaling2.ContainerResourceMetricSource, 5 external autoscaling2.ExternalMetricSource
autoscaling2.MetricStatus: 1 type keep string, 2 object autoscaling2.ObjectMetricStatus, 3 pods autoscaling2.PodsMetricStatus, 4 resource autoscaling2.ResourceMetricStatus, 7 containerResource autoscaling2.ContainerResourceMetricStatus, 5 external autoscaling2.ExternalMetricStatus
autoscaling2.MetricTarget: 1 type keep string, 2 value keep quantity, 3 averageValue keep quantity, 4 averageUtilization keep int
autoscaling2.MetricValueStatus: 1 value keep quantity, 2 averageValue keep quantity, 3 averageUtilization keep int
autoscaling2.ObjectMetricSource: 1 describedObject autoscaling2.CrossVersionObjectReference, 2 target autoscaling2.MetricTarget, 3 metric autoscaling2.MetricIdentifier
autoscaling2.ObjectMetricStatus: 1 metric autoscaling2.MetricIdentifier, 2 current autoscaling2.MetricValueStatus, 3 describedObject autoscaling2.CrossVersionObjectReference
autoscaling2.PodsMetricSource: 1 metric autoscaling2.MetricIdentifier, 2 target autoscaling2.MetricTarget
autoscaling2.PodsMetricStatus: 1 metric autoscaling2.MetricIdentifier, 2 current autoscaling2.MetricValueStatus
autoscaling2.ResourceMetricSource: 1 name keep string, 2 target autoscaling2.MetricTarget
autoscaling2.ResourceMetricStatus: 1 name keep string, 2 current autoscaling2.MetricValueStatus
batch.CronJob: 1 metadata meta.ObjectMeta, 2 spec batch.CronJobSpec, 3 status batch.CronJobStatus
batch.CronJobSpec: 1 schedule keep string, 8 timeZone keep string, 2 startingDeadlineSeconds keep int, 3 concurrencyPolicy string, 4 suspend keep bool, 5 jobTemplate batch.JobTemplateSpec, 6 successfulJobsHistoryLimit keep int, 7 failedJobsHistoryLimit keep int
batch.CronJobStatus: 1 active list core.ObjectReference, 4 lastScheduleTime keep time, 5 lastSuccessfulTime keep time
batch.Job: 1 metadata meta.ObjectMeta, 2 spec batch.JobSpec, 3 status batch.JobStatus
batch.JobCondition: 1 type keep string, 2 status keep string, 3 lastProbeTime time, 4 lastTransitionTime time, 5 reason string, 6 message string
batch.JobSpec: 1 parallelism keep int, 2 completions keep int, 3 activeDeadlineSeconds keep int, 11 podFailurePolicy batch.PodFailurePolicy, 16 successPolicy batch.SuccessPolicy, 7 backoffLimit keep int, 12 backoffLimitPerIndex keep int, 13 maxFailedIndexes keep int, 4 selector meta.LabelSelector, 5 manualSelector keep bool, 6 template core.PodTemplateSpec, 8 ttlSecondsAfterFinished keep int, 9 completionMode keep string, 10 suspend keep bool, 14 podReplacementPolicy keep string, 15 managedBy keep string
batch.JobStatus: 1 conditions list batch.JobCondition, 2 startTime keep time, 3 completionTime keep time, 4 active int, 5 succeeded int, 6 failed int, 11 terminating keep int, 7 completedIndexes string, 10 failedIndexes keep string, 8 uncountedTerminatedPods batch.UncountedTerminatedPods, 9 ready keep int
batch.JobTemplateSpec: 1 metadata meta.ObjectMeta, 2 spec batch.JobSpec
batch.PodFailurePolicy: 1 rules list batch.PodFailurePolicyRule
batch.PodFailurePolicyOnExitCodesRequirement: 1 containerName keep string, 2 operator keep string, 3 values list int
batch.PodFailurePolicyOnPodConditionsPattern: 1 type keep string, 2 status keep string
batch.PodFailurePolicyRule: 1 action keep string, 2 onExitCodes batch.PodFailurePolicyOnExitCodesRequirement, 3 onPodConditions list batch.PodFailurePolicyOnPodConditionsPattern
batch.SuccessPolicy: 1 rules list batch.SuccessPolicyRule
batch.SuccessPolicyRule: 1 succeededIndexes keep string, 2 succeededCount keep int
batch.UncountedTerminatedPods: 1 succeeded list string, 2 failed list string
certificates.CertificateSigningRequest: 1 metadata meta.ObjectMeta, 2 spec certificates.CertificateSigningRequestSpec, 3 status certificates.CertificateSigningRequestStatus
certificates.CertificateSigningRequestCondition: 1 type keep string, 6 status keep string, 2 reason string, 3 message string, 4 lastUpdateTime time, 5 lastTransitionTime time
certificates.CertificateSigningRequestSpec: 1 request keep bytes, 7 signerName keep string, 8 expirationSeconds keep int, 5 usages list string, 2 username string, 3 uid string, 4 groups list string, 6 extra map strings
certificates.CertificateSigningRequestStatus: 1 conditions list certificates.CertificateSigningRequestCondition, 2 certificate bytes
coordination.Lease: 1 metadata meta.ObjectMeta, 2 spec coordination.LeaseSpec
coordination.LeaseSpec: 1 holderIdentity keep string, 2 leaseDurationSeconds keep int, 3 acquireTime keep microTime, 4 renewTime keep microTime, 5 leaseTransitions keep int, 6 strategy keep string, 7 preferredHolder keep string
core.AWSElasticBlockStoreVolumeSource: 1 volumeID keep string, 2 fsType string, 3 partition int, 4 readOnly bool
core.Affinity: 1 nodeAffinity core.NodeAffinity, 2 podAffinity core.PodAffinity, 3 podAntiAffinity core.PodAntiAffinity
core.AppArmorProfile: 1 type keep string, 2 localhostProfile keep string
core.AttachedVolume: 1 name keep string, 2 devicePath keep string
core.AzureDiskVolumeSource: 1 diskName keep string, 2 diskURI keep string, 3 cachingMode keep string, 4 fsType keep string, 5 readOnly keep bool, 6 kind keep string
core.AzureFilePersistentVolumeSource: 1 secretName keep string, 2 shareName keep string, 3 readOnly bool, 4 secretNamespace keep string
core.AzureFileVolumeSource: 1 secretName keep string, 2 shareName keep string, 3 readOnly bool
core.Binding: 1 metadata meta.ObjectMeta, 2 target core.ObjectReference
core.CSIPersistentVolumeSource: 1 driver keep string, 2 volumeHandle keep string, 3 readOnly bool, 4 fsType string, 5 volumeAttributes map string, 6 controllerPublishSecretRef core.SecretReference, 7 nodeStageSecretRef core.SecretReference, 8 nodePublishSecretRef core.SecretReference, 9 controllerExpandSecretRef core.SecretReference, 10 nodeExpandSecretRef core.SecretReference
core.CSIVolumeSource: 1 driver keep string, 2 readOnly keep bool, 3 fsType keep string, 4 volumeAttributes map string, 5 nodePublishSecretRef core.LocalObjectReference
core.Capabilities: 1 add list string, 2 drop list string
core.CephFSPersistentVolumeSource: 1 monitors list string, 2 path string, 3 user string, 4 secretFile string, 5 secretRef core.SecretReference, 6 readOnly bool
core.CephFSVolumeSource: 1 monitors list string, 2 path string, 3 user string, 4 secretFile string, 5 secretRef core.LocalObjectReference, 6 readOnly bool
core.CinderPersistentVolumeSource: 1 volumeID keep string, 2 fsType string, 3 readOnly bool, 4 secretRef core.SecretReference
core.CinderVolumeSource: 1 volumeID keep string, 2 fsType string, 3 readOnly bool, 4 secretRef core.LocalObjectReference
core.ClientIPConfig: 1 timeoutSeconds keep int
core.ClusterTrustBundleProjection: 1 name keep string, 2 signerName keep string, 3 labelSelector meta.LabelSelector, 5 optional keep bool, 4 path keep string
core.ComponentCondition: 1 type keep string, 2 status keep string, 3 message string, 4 error string
core.ComponentStatus: 1 metadata meta.ObjectMeta, 2 conditions list core.ComponentCondition
core.ConfigMap: 1 metadata meta.ObjectMeta, 4 immutable keep bool, 2 data map string, 3 binaryData map bytes
core.ConfigMapEnvSource: 1 . inline core.LocalObjectReference, 2 optional keep bool
core.ConfigMapKeySelector: 1 . inline core.LocalObjectReference, 2 key keep string, 3 optional keep bool
core.ConfigMapNodeConfigSource: 1 namespace keep string, 2 name keep string, 3 uid string, 4 resourceVersion string, 5 kubeletConfigKey keep string
core.ConfigMapProjection: 1 . inline core.LocalObjectReference, 2 items list core.KeyToPath, 4 optional keep bool
core.ConfigMapVolumeSource: 1 . inline core.LocalObjectReference, 2 items list core.KeyToPath, 3 defaultMode keep int, 4 optional keep bool
core.Container: 1 name keep string, 2 image string, 3 command list string, 4 args list string, 5 workingDir string, 6 ports list core.ContainerPort, 19 envFrom list core.EnvFromSource, 7 env list core.EnvVar, 8 resources core.ResourceRequirements, 23 resizePolicy list core.ContainerResizePolicy, 24 restartPolicy keep string, 25 restartPolicyRules list core.ContainerRestartRule, 9 volumeMounts list core.VolumeMount, 21 volumeDevices list core.VolumeDevice, 10 livenessProbe core.Probe, 11 readinessProbe core.Probe, 22 startupProbe core.Probe, 12 lifecycle core.Lifecycle, 13 terminationMessagePath string, 20 terminationMessagePolicy string, 14 imagePullPolicy string, 15 securityContext core.SecurityContext, 16 stdin bool, 17 stdinOnce bool, 18 tty bool
core.ContainerExtendedResourceRequest: 1 containerName keep string, 2 resourceName keep string, 3 requestName keep string
core.ContainerImage: 1 names list string, 2 sizeBytes int
core.ContainerPort: 1 name string, 2 hostPort int, 3 containerPort keep int, 4 protocol string, 5 hostIP string
core.ContainerResizePolicy: 1 resourceName keep string, 2 restartPolicy keep string
core.ContainerRestartRule: 1 action string, 2 exitCodes core.ContainerRestartRuleOnExitCodes
core.ContainerRestartRuleOnExitCodes: 1 operator string, 2 values list int
core.ContainerState: 1 waiting core.ContainerStateWaiting, 2 running core.ContainerStateRunning, 3 terminated core.ContainerStateTerminated
core.ContainerStateRunning: 1 startedAt time
core.ContainerStateTerminated: 1 exitCode keep int, 2 signal int, 3 reason string, 4 message string, 5 startedAt time, 6 finishedAt time, 7 containerID string
core.ContainerStateWaiting: 1 reason string, 2 message string
core.ContainerStatus: 1 name keep string, 2 state core.ContainerState, 3 lastState core.ContainerState, 4 ready keep bool, 5 restartCount keep int, 6 image keep string, 7 imageID keep string, 8 containerID string, 9 started keep bool, 10 allocatedResources map quantity, 11 resources core.ResourceRequirements, 12 volumeMounts list core.VolumeMountStatus, 13 user core.ContainerUser, 14 allocatedResourcesStatus list core.ResourceStatus, 15 stopSignal keep string
core.ContainerUser: 1 linux core.LinuxContainerUser
core.DaemonEndpoint: 1 Port keep int
core.DownwardAPIProjection: 1 items list core.DownwardAPIVolumeFile
core.DownwardAPIVolumeFile: 1 path keep string, 2 fieldRef core.ObjectFieldSelector, 3 resourceFieldRef core.ResourceFieldSelector, 4 mode keep int
core.DownwardAPIVolumeSource: 1 items list core.DownwardAPIVolumeFile, 2 defaultMode keep int
core.EmptyDirVolumeSource: 1 medium string, 2 sizeLimit keep quantity
core.EndpointAddress: 1 ip keep string, 3 hostname string, 4 nodeName keep string, 2 targetRef core.ObjectReference
core.EndpointPort: 1 name string, 2 port keep int, 3 protocol string, 4 appProtocol keep string
core.EndpointSubset: 1 addresses list core.EndpointAddress, 2 notReadyAddresses list core.EndpointAddress, 3 ports list core.EndpointPort
core.Endpoints: 1 metadata meta.ObjectMeta, 2 subsets list core.EndpointSubset
core.EnvFromSource: 1 prefix string, 2 configMapRef core.ConfigMapEnvSource, 3 secretRef core.SecretEnvSource
core.EnvVar: 1 name keep string, 2 value string, 3 valueFrom core.EnvVarSource
core.EnvVarSource: 1 fieldRef core.ObjectFieldSelector, 2 resourceFieldRef core.ResourceFieldSelector, 3 configMapKeyRef core.ConfigMapKeySelector, 4 secretKeyRef core.SecretKeySelector, 5 fileKeyRef core.FileKeySelector
core.EphemeralContainer: 1 . inline core.EphemeralContainerCommon, 2 targetContainerName string
core.EphemeralContainerCommon: 1 name keep string, 2 image string, 3 command list string, 4 args list string, 5 workingDir string, 6 ports list core.ContainerPort, 19 envFrom list core.EnvFromSource, 7 env list core.EnvVar, 8 resources core.ResourceRequirements, 23 resizePolicy list core.ContainerResizePolicy, 24 restartPolicy keep string, 25 restartPolicyRules list core.ContainerRestartRule, 9 volumeMounts list core.VolumeMount, 21 volumeDevices list core.VolumeDevice, 10 livenessProbe core.Probe, 11 readinessProbe core.Probe, 22 startupProbe core.Probe, 12 lifecycle core.Lifecycle, 13 terminationMessagePath string, 20 terminationMessagePolicy string, 14 imagePullPolicy string, 15 securityContext core.SecurityContext, 16 stdin bool, 17 stdinOnce bool, 18 tty bool
core.EphemeralVolumeSource: 1 volumeClaimTemplate core.PersistentVolumeClaimTemplate
core.Event: 1 metadata meta.ObjectMeta, 2 involvedObject core.ObjectReference, 3 reason string, 4 message string, 5 source core.EventSource, 6 firstTimestamp time, 7 lastTimestamp time, 8 count int, 9 type string, 10 eventTime microTime, 11 series core.EventSeries, 12 action string, 13 related core.ObjectReference, 14 reportingComponent keep string, 15 reportingInstance keep string
core.EventSeries: 1 count int, 2 lastObservedTime microTime
core.EventSource: 1 component string, 2 host string
core.ExecAction: 1 command list string
core.FCVolumeSource: 1 targetWWNs list string, 2 lun keep int, 3 fsType string, 4 readOnly bool, 5 wwids list string
core.FileKeySelector: 1 volumeName keep string, 2 path keep string, 3 key keep string, 4 optional keep bool
core.FlexPersistentVolumeSource: 1 driver keep string, 2 fsType string, 3 secretRef core.SecretReference, 4 readOnly bool, 5 options map string
core.FlexVolumeSource: 1 driver keep string, 2 fsType string, 3 secretRef core.LocalObjectReference, 4 readOnly bool, 5 options map string
core.FlockerVolumeSource: 1 datasetName string, 2 datasetUUID string
core.GCEPersistentDiskVolumeSource: 1 pdName keep string, 2 fsType string, 3 partition int, 4 readOnly bool
core.GRPCAction: 1 port keep int, 2 service keep string
core.GitRepoVolumeSource: 1 repository keep string, 2 revision string, 3 directory string
core.GlusterfsPersistentVolumeSource: 1 endpoints keep string, 2 path keep string, 3 readOnly bool, 4 endpointsNamespace keep string
core.GlusterfsVolumeSource: 1 endpoints keep string, 2 path keep string, 3 readOnly bool
core.HTTPGetAction: 1 path string, 2 port keep intOrString, 3 host string, 4 scheme string, 5 httpHeaders list core.HTTPHeader
core.HTTPHeader: 1 name keep string, 2 value keep string
core.HostAlias: 1 ip keep string, 2 hostnames list string
core.HostIP: 1 ip keep string
core.HostPathVolumeSource: 1 path keep string, 2 type keep string
core.ISCSIPersistentVolumeSource: 1 targetPortal keep string, 2 iqn keep string, 3 lun keep int, 4 iscsiInterface string, 5 fsType string, 6 readOnly bool, 7 portals list string, 8 chapAuthDiscovery bool, 11 chapAuthSession bool, 10 secretRef core.SecretReference, 12 initiatorName keep string
core.ISCSIVolumeSource: 1 targetPortal keep string, 2 iqn keep string, 3 lun keep int, 4 iscsiInterface string, 5 fsType string, 6 readOnly bool, 7 portals list string, 8 chapAuthDiscovery bool, 11 chapAuthSession bool, 10 secretRef core.LocalObjectReference, 12 initiatorName keep string
core.ImageVolumeSource: 1 reference string, 2 pullPolicy string
core.ImageVolumeStatus: 1 imageRef string
core.KeyToPath: 1 key keep string, 2 path keep string, 3 mode keep int
core.Lifecycle: 1 postStart core.LifecycleHandler, 2 preStop core.LifecycleHandler, 3 stopSignal keep string
core.LifecycleHandler: 1 exec core.ExecAction, 2 httpGet core.HTTPGetAction, 3 tcpSocket core.TCPSocketAction, 4 sleep core.SleepAction
core.LimitRange: 1 metadata meta.ObjectMeta, 2 spec core.LimitRangeSpec
core.LimitRangeItem: 1 type keep string, 2 max map quantity, 3 min map quantity, 4 default map quantity, 5 defaultRequest map quantity, 6 maxLimitRequestRatio map quantity
core.LimitRangeSpec: 1 limits list core.LimitRangeItem
core.LinuxContainerUser: 1 uid keep int, 2 gid keep int, 3 supplementalGroups list int
core.LoadBalancerIngress: 1 ip string, 2 hostname string, 3 ipMode keep string, 4 ports list core.PortStatus
core.LoadBalancerStatus: 1 ingress list core.LoadBalancerIngress
core.LocalObjectReference: 1 name string
core.LocalVolumeSource: 1 path keep string, 2 fsType keep string
core.ModifyVolumeStatus: 1 targetVolumeAttributesClassName string, 2 status keep string
core.NFSVolumeSource: 1 server keep string, 2 path keep string, 3 readOnly bool
core.Namespace: 1 metadata meta.ObjectMeta, 2 spec core.NamespaceSpec, 3 status core.NamespaceStatus
core.NamespaceCondition: 1 type keep string, 2 status keep string, 4 lastTransitionTime time, 5 reason string, 6 message string
core.NamespaceSpec: 1 finalizers list string
core.NamespaceStatus: 1 phase string, 2 conditions list core.NamespaceCondition
core.Node: 1 metadata meta.ObjectMeta, 2 spec core.NodeSpec, 3 status core.NodeStatus
core.NodeAddress: 1 type keep string, 2 address keep string
core.NodeAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution core.NodeSelector, 2 preferredDuringSchedulingIgnoredDuringExecution list core.PreferredSchedulingTerm
core.NodeAllocatableResourceClaimStatus: 1 resourceClaimName keep string, 2 containers list string, 3 resources map quantity
core.NodeCondition: 1 type keep string, 2 status keep string, 3 lastHeartbeatTime time, 4 lastTransitionTime time, 5 reason string, 6 message string
core.NodeConfigSource: 2 configMap core.ConfigMapNodeConfigSource
core.NodeConfigStatus: 1 assigned core.NodeConfigSource, 2 active core.NodeConfigSource, 3 lastKnownGood core.NodeConfigSource, 4 error string
core.NodeDaemonEndpoints: 1 kubeletEndpoint core.DaemonEndpoint
core.NodeFeatures: 1 supplementalGroupsPolicy keep bool
core.NodeRuntimeHandler: 1 name keep string, 2 features core.NodeRuntimeHandlerFeatures
core.NodeRuntimeHandlerFeatures: 1 recursiveReadOnlyMounts keep bool, 2 userNamespaces keep bool
core.NodeSelector: 1 nodeSelectorTerms list core.NodeSelectorTerm
core.NodeSelectorRequirement: 1 key keep string, 2 operator keep string, 3 values list string
core.NodeSelectorTerm: 1 matchExpressions list core.NodeSelectorRequirement, 2 matchFields list core.NodeSelectorRequirement
core.NodeSpec: 1 podCIDR string, 7 podCIDRs list string, 3 providerID string, 4 unschedulable bool, 5 taints list core.Taint, 6 configSource core.NodeConfigSource, 2 externalID string
core.NodeStatus: 1 capacity map quantity, 2 allocatable map quantity, 3 phase string, 4 conditions list core.NodeCondition, 5 addresses list core.NodeAddress, 6 daemonEndpoints core.NodeDaemonEndpoints, 7 nodeInfo core.NodeSystemInfo, 8 images list core.ContainerImage, 9 volumesInUse list string, 10 volumesAttached list core.AttachedVolume, 11 config core.NodeConfigStatus, 12 runtimeHandlers list core.NodeRuntimeHandler, 13 features core.NodeFeatures, 14 declaredFeatures list string
core.NodeSwapStatus: 1 capacity keep int
core.NodeSystemInfo: 1 machineID keep string, 2 systemUUID keep string, 3 bootID keep string, 4 kernelVersion keep string, 5 osImage keep string, 6 containerRuntimeVersion keep string, 7 kubeletVersion keep string, 8 kubeProxyVersion keep string, 9 operatingSystem keep string, 10 architecture keep string, 11 swap core.NodeSwapStatus
core.ObjectFieldSelector: 1 apiVersion string, 2 fieldPath keep string
core.ObjectReference: 1 kind string, 2 namespace string, 3 name string, 4 uid string, 5 apiVersion string, 6 resourceVersion string, 7 fieldPath string
core.PersistentVolume: 1 metadata meta.ObjectMeta, 2 spec core.PersistentVolumeSpec, 3 status core.PersistentVolumeStatus
core.PersistentVolumeClaim: 1 metadata meta.ObjectMeta, 2 spec core.PersistentVolumeClaimSpec, 3 status core.PersistentVolumeClaimStatus
core.PersistentVolumeClaimCondition: 1 type keep string, 2 status keep string, 3 lastProbeTime time, 4 lastTransitionTime time, 5 reason string, 6 message string
core.PersistentVolumeClaimSpec: 1 accessModes list string, 4 selector meta.LabelSelector, 2 resources core.VolumeResourceRequirements, 3 volumeName string, 5 storageClassName keep string, 6 volumeMode keep string, 7 dataSource core.TypedLocalObjectReference, 8 dataSourceRef core.TypedObjectReference, 9 volumeAttributesClassName keep string
core.PersistentVolumeClaimStatus: 1 phase string, 2 accessModes list string, 3 capacity map quantity, 4 conditions list core.PersistentVolumeClaimCondition, 5 allocatedResources map quantity, 7 allocatedResourceStatuses map string, 8 currentVolumeAttributesClassName keep string, 9 modifyVolumeStatus core.ModifyVolumeStatus
core.PersistentVolumeClaimTemplate: 1 metadata meta.ObjectMeta, 2 spec core.PersistentVolumeClaimSpec
core.PersistentVolumeClaimVolumeSource: 1 claimName keep string, 2 readOnly bool
core.PersistentVolumeSource: 1 gcePersistentDisk core.GCEPersistentDiskVolumeSource, 2 awsElasticBlockStore core.AWSElasticBlockStoreVolumeSource, 3 hostPath core.HostPathVolumeSource, 4 glusterfs core.GlusterfsPersistentVolumeSource, 5 nfs core.NFSVolumeSource, 6 rbd core.RBDPersistentVolumeSource, 7 iscsi core.ISCSIPersistentVolumeSource, 8 cinder core.CinderPersistentVolumeSource, 9 cephfs core.CephFSPersistentVolumeSource, 10 fc core.FCVolumeSource, 11 flocker core.FlockerVolumeSource, 12 flexVolume core.FlexPersistentVolumeSource, 13 azureFile core.AzureFilePersistentVolumeSource, 14 vsphereVolume core.VsphereVirtualDiskVolumeSource, 15 quobyte core.QuobyteVolumeSource, 16 azureDisk core.AzureDiskVolumeSource, 17 photonPersistentDisk core.PhotonPersistentDiskVolumeSource, 18 portworxVolume core.PortworxVolumeSource, 19 scaleIO core.ScaleIOPersistentVolumeSource, 20 local core.LocalVolumeSource, 21 storageos core.StorageOSPersistentVolumeSource, 22 csi core.CSIPersistentVolumeSource
core.PersistentVolumeSpec: 1 capacity map quantity, 2 . inline core.PersistentVolumeSource, 3 accessModes list string, 4 claimRef core.ObjectReference, 5 persistentVolumeReclaimPolicy string, 6 storageClassName string, 7 mountOptions list string, 8 volumeMode keep string, 9 nodeAffinity core.VolumeNodeAffinity, 10 volumeAttributesClassName keep string
core.PersistentVolumeStatus: 1 phase string, 2 message string, 3 reason string, 4 lastPhaseTransitionTime keep time
core.PhotonPersistentDiskVolumeSource: 1 pdID keep string, 2 fsType string
core.Pod: 1 metadata meta.ObjectMeta, 2 spec core.PodSpec, 3 status core.PodStatus
core.PodAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution list core.PodAffinityTerm, 2 preferredDuringSchedulingIgnoredDuringExecution list core.WeightedPodAffinityTerm
core.PodAffinityTerm: 1 labelSelector meta.LabelSelector, 2 namespaces list string, 3 topologyKey keep string, 4 namespaceSelector meta.LabelSelector, 5 matchLabelKeys list string, 6 mismatchLabelKeys list string
core.PodAntiAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution list core.PodAffinityTerm, 2 preferredDuringSchedulingIgnoredDuringExecution list core.WeightedPodAffinityTerm
core.PodCertificateProjection: 1 signerName string, 2 keyType string, 3 maxExpirationSeconds keep int, 4 credentialBundlePath string, 5 keyPath string, 6 certificateChainPath string, 7 userAnnotations map string
core.PodCondition: 1 type keep string, 7 observedGeneration int, 2 status keep string, 3 lastProbeTime time, 4 lastTransitionTime time, 5 reason string, 6 message string
core.PodDNSConfig: 1 nameservers list string, 2 searches list string, 3 options list core.PodDNSConfigOption
core.PodDNSConfigOption: 1 name string, 2 value keep string
core.PodExtendedResourceClaimStatus: 1 requestMappings list core.ContainerExtendedResourceRequest, 2 resourceClaimName keep string
core.PodIP: 1 ip keep string
core.PodOS: 1 name keep string
core.PodReadinessGate: 1 conditionType keep string
core.PodResourceClaim: 1 name keep string, 3 resourceClaimName keep string, 4 resourceClaimTemplateName keep string
core.PodResourceClaimStatus: 1 name keep string, 2 resourceClaimName keep string
core.PodSchedulingGate: 1 name keep string
core.PodSchedulingGroup: 1 podGroupName keep string
core.PodSecurityContext: 1 seLinuxOptions core.SELinuxOptions, 8 windowsOptions core.WindowsSecurityContextOptions, 2 runAsUser keep int, 6 runAsGroup keep int, 3 runAsNonRoot keep bool, 4 supplementalGroups list int, 12 supplementalGroupsPolicy keep string, 5 fsGroup keep int, 7 sysctls list core.Sysctl, 9 fsGroupChangePolicy keep string, 10 seccompProfile core.SeccompProfile, 11 appArmorProfile core.AppArmorProfile, 13 seLinuxChangePolicy keep string
core.PodSpec: 1 volumes list core.Volume, 20 initContainers list core.Container, 2 containers list core.Container, 34 ephemeralContainers list core.EphemeralContainer, 3 restartPolicy string, 4 terminationGracePeriodSeconds keep int, 5 activeDeadlineSeconds keep int, 6 dnsPolicy string, 7 nodeSelector map string, 8 serviceAccountName string, 9 serviceAccount string, 21 automountServiceAccountToken keep bool, 10 nodeName string, 11 hostNetwork bool, 12 hostPID bool, 13 hostIPC bool, 27 shareProcessNamespace keep bool, 14 securityContext core.PodSecurityContext, 15 imagePullSecrets list core.LocalObjectReference, 16 hostname string, 17 subdomain string, 18 affinity core.Affinity, 19 schedulerName string, 22 tolerations list core.Toleration, 23 hostAliases list core.HostAlias, 24 priorityClassName string, 25 priority keep int, 26 dnsConfig core.PodDNSConfig, 28 readinessGates list core.PodReadinessGate, 29 runtimeClassName keep string, 30 enableServiceLinks keep bool, 31 preemptionPolicy keep string, 32 overhead map quantity, 33 topologySpreadConstraints list core.TopologySpreadConstraint, 35 setHostnameAsFQDN keep bool, 36 os core.PodOS, 37 hostUsers keep bool, 38 schedulingGates list core.PodSchedulingGate, 39 resourceClaims list core.PodResourceClaim, 40 resources core.ResourceRequirements, 41 hostnameOverride keep string, 43 schedulingGroup core.PodSchedulingGroup
core.PodStatus: 17 observedGeneration int, 1 phase string, 2 conditions list core.PodCondition, 3 message string, 4 reason string, 11 nominatedNodeName string, 5 hostIP string, 16 hostIPs list core.HostIP, 6 podIP string, 12 podIPs list core.PodIP, 7 startTime keep time, 10 initContainerStatuses list core.ContainerStatus, 8 containerStatuses list core.ContainerStatus, 9 qosClass string, 13 ephemeralContainerStatuses list core.ContainerStatus, 14 resize string, 15 resourceClaimStatuses list core.PodResourceClaimStatus, 18 extendedResourceClaimStatus core.PodExtendedResourceClaimStatus, 19 allocatedResources map quantity, 20 resources core.ResourceRequirements, 21 nodeAllocatableResourceClaimStatuses list core.NodeAllocatableResourceClaimStatus
core.PodStatusResult: 1 metadata meta.ObjectMeta, 2 status core.PodStatus
core.PodTemplate: 1 metadata meta.ObjectMeta, 2 template core.PodTemplateSpec
core.PodTemplateSpec: 1 metadata meta.ObjectMeta, 2 spec core.PodSpec
core.PortStatus: 1 port keep int, 2 protocol keep string, 3 error keep string
core.PortworxVolumeSource: 1 volumeID keep string, 2 fsType string, 3 readOnly bool
core.PreferredSchedulingTerm: 1 weight keep int, 2 preference core.NodeSelectorTerm
core.Probe: 1 . inline core.ProbeHandler, 2 initialDelaySeconds int, 3 timeoutSeconds int, 4 periodSeconds int, 5 successThreshold int, 6 failureThreshold int, 7 terminationGracePeriodSeconds keep int
core.ProbeHandler: 1 exec core.ExecAction, 2 httpGet core.HTTPGetAction, 3 tcpSocket core.TCPSocketAction, 4 grpc core.GRPCAction
core.ProjectedVolumeSource: 1 sources list core.VolumeProjection, 2 defaultMode keep int
core.QuobyteVolumeSource: 1 registry keep string, 2 volume keep string, 3 readOnly bool, 4 user string, 5 group string, 6 tenant string
core.RBDPersistentVolumeSource: 1 monitors list string, 2 image keep string, 3 fsType string, 4 pool string, 5 user string, 6 keyring string, 7 secretRef core.SecretReference, 8 readOnly bool
core.RBDVolumeSource: 1 monitors list string, 2 image keep string, 3 fsType string, 4 pool string, 5 user string, 6 keyring string, 7 secretRef core.LocalObjectReference, 8 readOnly bool
core.RangeAllocation: 1 metadata meta.ObjectMeta, 2 range keep string, 3 data keep bytes
core.ReplicationController: 1 metadata meta.ObjectMeta, 2 spec core.ReplicationControllerSpec, 3 status core.ReplicationControllerStatus
core.ReplicationControllerCondition: 1 type keep string, 2 status keep string, 3 lastTransitionTime time, 4 reason string, 5 message string
core.ReplicationControllerSpec: 1 replicas keep int, 4 minReadySeconds int, 2 selector map string, 3 template core.PodTemplateSpec
core.ReplicationControllerStatus: 1 replicas keep int, 2 fullyLabeledReplicas int, 4 readyReplicas int, 5 availableReplicas int, 3 observedGeneration int, 6 conditions list core.ReplicationControllerCondition
core.ResourceClaim: 1 name keep string, 2 request string
core.ResourceFieldSelector: 1 containerName string, 2 resource keep string, 3 divisor quantity
core.ResourceHealth: 1 resourceID keep string, 2 health string, 6 message keep string
core.ResourceQuota: 1 metadata meta.ObjectMeta, 2 spec core.ResourceQuotaSpec, 3 status core.ResourceQuotaStatus
core.ResourceQuotaSpec: 1 hard map quantity, 2 scopes list string, 3 scopeSelector core.ScopeSelector
core.ResourceQuotaStatus: 1 hard map quantity, 2 used map quantity
core.ResourceRequirements: 1 limits map quantity, 2 requests map quantity, 3 claims list core.ResourceClaim
core.ResourceStatus: 1 name keep string, 2 resources list core.ResourceHealth
core.SELinuxOptions: 1 user string, 2 role string, 3 type string, 4 level string
core.ScaleIOPersistentVolumeSource: 1 gateway keep string, 2 system keep string, 3 secretRef core.SecretReference, 4 sslEnabled bool, 5 protectionDomain string, 6 storagePool string, 7 storageMode string, 8 volumeName string, 9 fsType string, 10 readOnly bool
core.ScaleIOVolumeSource: 1 gateway keep string, 2 system keep string, 3 secretRef core.LocalObjectReference, 4 sslEnabled bool, 5 protectionDomain string, 6 storagePool string, 7 storageMode string, 8 volumeName string, 9 fsType string, 10 readOnly bool
core.ScopeSelector: 1 matchExpressions list core.ScopedResourceSelectorRequirement
core.ScopedResourceSelectorRequirement: 1 scopeName keep string, 2 operator keep string, 3 values list string
core.SeccompProfile: 1 type keep string, 2 localhostProfile keep string
core.Secret: 1 metadata meta.ObjectMeta, 5 immutable keep bool, 2 data map bytes, 4 stringData map string, 3 type string
core.SecretEnvSource: 1 . inline core.LocalObjectReference, 2 optional keep bool
core.SecretKeySelector: 1 . inline core.LocalObjectReference, 2 key keep string, 3 optional keep bool
core.SecretProjection: 1 . inline core.LocalObjectReference, 2 items list core.KeyToPath, 4 optional keep bool
core.SecretReference: 1 name string, 2 namespace string
core.SecretVolumeSource: 1 secretName string, 2 items list core.KeyToPath, 3 defaultMode keep int, 4 optional keep bool
core.SecurityContext: 1 capabilities core.Capabilities, 2 privileged keep bool, 3 seLinuxOptions core.SELinuxOptions, 10 windowsOptions core.WindowsSecurityContextOptions, 4 runAsUser keep int, 8 runAsGroup keep int, 5 runAsNonRoot keep bool, 6 readOnlyRootFilesystem keep bool, 7 allowPrivilegeEscalation keep bool, 9 procMount keep string, 11 seccompProfile core.SeccompProfile, 12 appArmorProfile core.AppArmorProfile
core.Service: 1 metadata meta.ObjectMeta, 2 spec core.ServiceSpec, 3 status core.ServiceStatus
core.ServiceAccount: 1 metadata meta.ObjectMeta, 2 secrets list core.ObjectReference, 3 imagePullSecrets list core.LocalObjectReference, 4 automountServiceAccountToken keep bool
core.ServiceAccountTokenProjection: 1 audience string, 2 expirationSeconds keep int, 3 path keep string
core.ServicePort: 1 name string, 2 protocol string, 6 appProtocol keep string, 3 port keep int, 4 targetPort intOrString, 5 nodePort int
core.ServiceSpec: 1 ports list core.ServicePort, 2 selector map string, 3 clusterIP string, 18 clusterIPs list string, 4 type string, 5 externalIPs list string, 7 sessionAffinity string, 8 loadBalancerIP string, 9 loadBalancerSourceRanges list string, 10 externalName string, 11 externalTrafficPolicy string, 12 healthCheckNodePort int, 13 publishNotReadyAddresses bool, 14 sessionAffinityConfig core.SessionAffinityConfig, 19 ipFamilies list string, 17 ipFamilyPolicy keep string, 20 allocateLoadBalancerNodePorts keep bool, 21 loadBalancerClass keep string, 22 internalTrafficPolicy keep string, 23 trafficDistribution keep string
core.ServiceStatus: 1 loadBalancer core.LoadBalancerStatus, 2 conditions list meta.Condition
core.SessionAffinityConfig: 1 clientIP core.ClientIPConfig
core.SleepAction: 1 seconds keep int
core.StorageOSPersistentVolumeSource: 1 volumeName string, 2 volumeNamespace string, 3 fsType string, 4 readOnly bool, 5 secretRef core.ObjectReference
core.StorageOSVolumeSource: 1 volumeName string, 2 volumeNamespace string, 3 fsType string, 4 readOnly bool, 5 secretRef core.LocalObjectReference
core.Sysctl: 1 name keep string, 2 value keep string
core.TCPSocketAction: 1 port keep intOrString, 2 host string
core.Taint: 1 key keep string, 2 value string, 3 effect keep string, 4 timeAdded keep time
core.Toleration: 1 key string, 2 operator string, 3 value string, 4 effect string, 5 tolerationSeconds keep int
core.TopologySelectorLabelRequirement: 1 key keep string, 2 values list string
core.TopologySelectorTerm: 1 matchLabelExpressions list core.TopologySelectorLabelRequirement
core.TopologySpreadConstraint: 1 maxSkew keep int, 2 topologyKey keep string, 3 whenUnsatisfiable keep string, 4 labelSelector meta.LabelSelector, 5 minDomains keep int, 6 nodeAffinityPolicy keep string, 7 nodeTaintsPolicy keep string, 8 matchLabelKeys list string
core.TypedLocalObjectReference: 1 apiGroup keep string, 2 kind keep string, 3 name keep string
core.TypedObjectReference: 1 apiGroup keep string, 2 kind keep string, 3 name keep string, 4 namespace keep string
core.Volume: 1 name keep string, 2 . inline core.VolumeSource
core.VolumeDevice: 1 name keep string, 2 devicePath keep string
core.VolumeMount: 1 name keep string, 2 readOnly bool, 7 recursiveReadOnly keep string, 3 mountPath keep string, 4 subPath string, 5 mountPropagation keep string, 6 subPathExpr string
core.VolumeMountStatus: 1 name keep string, 2 mountPath keep string, 3 readOnly bool, 4 recursiveReadOnly keep string, 5 volumeStatus core.VolumeStatus
core.VolumeNodeAffinity: 1 required core.NodeSelector
core.VolumeProjection: 1 secret core.SecretProjection, 2 downwardAPI core.DownwardAPIProjection, 3 configMap core.ConfigMapProjection, 4 serviceAccountToken core.ServiceAccountTokenProjection, 5 clusterTrustBundle core.ClusterTrustBundleProjection, 6 podCertificate core.PodCertificateProjection
core.VolumeResourceRequirements: 1 limits map quantity, 2 requests map quantity
core.VolumeSource: 1 hostPath core.HostPathVolumeSource, 2 emptyDir core.EmptyDirVolumeSource, 3 gcePersistentDisk core.GCEPersistentDiskVolumeSource, 4 awsElasticBlockStore core.AWSElasticBlockStoreVolumeSource, 5 gitRepo core.GitRepoVolumeSource, 6 secret core.SecretVolumeSource, 7 nfs core.NFSVolumeSource, 8 iscsi core.ISCSIVolumeSource, 9 glusterfs core.GlusterfsVolumeSource, 10 persistentVolumeClaim core.PersistentVolumeClaimVolumeSource, 11 rbd core.RBDVolumeSource, 12 flexVolume core.FlexVolumeSource, 13 cinder core.CinderVolumeSource, 14 cephfs core.CephFSVolumeSource, 15 flocker core.FlockerVolumeSource, 16 downwardAPI core.DownwardAPIVolumeSource, 17 fc core.FCVolumeSource, 18 azureFile core.AzureFileVolumeSource, 19 configMap core.ConfigMapVolumeSource, 20 vsphereVolume core.VsphereVirtualDiskVolumeSource, 21 quobyte core.QuobyteVolumeSource, 22 azureDisk core.AzureDiskVolumeSource, 23 photonPersistentDisk core.PhotonPersistentDiskVolumeSource, 26 projected core.ProjectedVolumeSource, 24 portworxVolume core.PortworxVolumeSource, 25 scaleIO core.ScaleIOVolumeSource, 27 storageos core.StorageOSVolumeSource, 28 csi core.CSIVolumeSource, 29 ephemeral core.EphemeralVolumeSource, 30 image core.ImageVolumeSource
core.VolumeStatus: 1 image core.ImageVolumeStatus
core.VsphereVirtualDiskVolumeSource: 1 volumePath keep string, 2 fsType string, 3 storagePolicyName string, 4 storagePolicyID string
core.WeightedPodAffinityTerm: 1 weight keep int, 2 podAffinityTerm core.PodAffinityTerm
core.WindowsSecurityContextOptions: 1 gmsaCredentialSpecName keep string, 2 gmsaCredentialSpec keep string, 3 runAsUserName keep string, 4 hostProcess keep bool
discovery.Endpoint: 1 addresses list string, 2 conditions discovery.EndpointConditions, 3 hostname keep string, 4 targetRef core.ObjectReference, 5 deprecatedTopology map string, 6 nodeName keep string, 7 zone keep string, 8 hints discovery.EndpointHints
discovery.EndpointConditions: 1 ready keep bool, 2 serving keep bool, 3 terminating keep bool
discovery.EndpointHints: 1 forZones list discovery.ForZone, 2 forNodes list discovery.ForNode
discovery.EndpointPort: 1 name keep string, 2 protocol keep string, 3 port keep int, 4 appProtocol keep string
discovery.EndpointSlice: 1 metadata meta.ObjectMeta, 4 addressType keep string, 2 endpoints list discovery.Endpoint, 3 ports list discovery.EndpointPort
discovery.ForNode: 1 name keep string
discovery.ForZone: 1 name keep string
events.Event: 1 metadata meta.ObjectMeta, 2 eventTime keep microTime, 3 series events.EventSeries, 4 reportingController string, 5 reportingInstance string, 6 action string, 7 reason string, 8 regarding core.ObjectReference, 9 related core.ObjectReference, 10 note string, 11 type string, 12 deprecatedSource core.EventSource, 13 deprecatedFirstTimestamp time, 14 deprecatedLastTimestamp time, 15 deprecatedCount int
events.EventSeries: 1 count keep int, 2 lastObservedTime keep microTime
flowcontrol.ExemptPriorityLevelConfiguration: 1 nominalConcurrencyShares keep int, 2 lendablePercent keep int
flowcontrol.FlowDistinguisherMethod: 1 type keep string
flowcontrol.FlowSchema: 1 metadata meta.ObjectMeta, 2 spec flowcontrol.FlowSchemaSpec, 3 status flowcontrol.FlowSchemaStatus
flowcontrol.FlowSchemaCondition: 1 type string, 2 status string, 3 lastTransitionTime time, 4 reason string, 5 message string
flowcontrol.FlowSchemaSpec: 1 priorityLevelConfiguration flowcontrol.PriorityLevelConfigurationReference, 2 matchingPrecedence keep int, 3 distinguisherMethod flowcontrol.FlowDistinguisherMethod, 4 rules list flowcontrol.PolicyRulesWithSubjects
flowcontrol.FlowSchemaStatus: 1 conditions list flowcontrol.FlowSchemaCondition
flowcontrol.GroupSubject: 1 name keep string
flowcontrol.LimitResponse: 1 type keep string, 2 queuing flowcontrol.QueuingConfiguration
flowcontrol.LimitedPriorityLevelConfiguration: 1 nominalConcurrencyShares keep int, 2 limitResponse flowcontrol.LimitResponse, 3 lendablePercent keep int, 4 borrowingLimitPercent keep int
flowcontrol.NonResourcePolicyRule: 1 verbs list string, 6 nonResourceURLs list string
flowcontrol.PolicyRulesWithSubjects: 1 subjects list flowcontrol.Subject, 2 resourceRules list flowcontrol.ResourcePolicyRule, 3 nonResourceRules list flowcontrol.NonResourcePolicyRule
flowcontrol.PriorityLevelConfiguration: 1 metadata meta.ObjectMeta, 2 spec flowcontrol.PriorityLevelConfigurationSpec, 3 status flowcontrol.PriorityLevelConfigurationStatus
flowcontrol.PriorityLevelConfigurationCondition: 1 type string, 2 status string, 3 lastTransitionTime time, 4 reason string, 5 message string
flowcontrol.PriorityLevelConfigurationReference: 1 name keep string
flowcontrol.PriorityLevelConfigurationSpec: 1 type keep string, 2 limited flowcontrol.LimitedPriorityLevelConfiguration, 3 exempt flowcontrol.ExemptPriorityLevelConfiguration
flowcontrol.PriorityLevelConfigurationStatus: 1 conditions list flowcontrol.PriorityLevelConfigurationCondition
flowcontrol.QueuingConfiguration: 1 queues keep int, 2 handSize keep int, 3 queueLengthLimit keep int
flowcontrol.ResourcePolicyRule: 1 verbs list string, 2 apiGroups list string, 3 resources list string, 4 clusterScope bool, 5 namespaces list string
flowcontrol.ServiceAccountSubject: 1 namespace keep string, 2 name keep string
flowcontrol.Subject: 1 kind keep string, 2 user flowcontrol.UserSubject, 3 group flowcontrol.GroupSubject, 4 serviceAccount flowcontrol.ServiceAccountSubject
flowcontrol.UserSubject: 1 name keep string
meta.Condition: 1 type keep string, 2 status keep string, 3 observedGeneration int, 4 lastTransitionTime keep time, 5 reason keep string, 6 message keep string
meta.DeleteOptions: 1 gracePeriodSeconds keep int, 2 preconditions meta.Preconditions, 3 orphanDependents keep bool, 4 propagationPolicy keep string, 5 dryRun list string, 6 ignoreStoreReadErrorWithClusterBreakingPotential keep bool
meta.FieldSelectorRequirement: 1 key keep string, 2 operator keep string, 3 values list string
meta.LabelSelector: 1 matchLabels map string, 2 matchExpressions list meta.LabelSelectorRequirement
meta.LabelSelectorRequirement: 1 key keep string, 2 operator keep string, 3 values list string
meta.ManagedFieldsEntry: 1 manager string, 2 operation string, 3 apiVersion string, 4 time keep time, 6 fieldsType string, 7 fieldsV1 keep json, 8 subresource string
meta.ObjectMeta: 1 name string, 2 generateName string, 3 namespace string, 4 selfLink string, 5 uid string, 6 resourceVersion string, 7 generation int, 8 creationTimestamp time, 9 deletionTimestamp keep time, 10 deletionGracePeriodSeconds keep int, 11 labels map string, 12 annotations map string, 13 ownerReferences list meta.OwnerReference, 14 finalizers list string, 17 managedFields list meta.ManagedFieldsEntry
meta.OwnerReference: 5 apiVersion keep string, 1 kind keep string, 3 name keep string, 4 uid keep string, 6 controller keep bool, 7 blockOwnerDeletion keep bool
meta.Preconditions: 1 uid keep string, 2 resourceVersion keep string
networking.HTTPIngressPath: 1 path string, 3 pathType keep string, 2 backend networking.IngressBackend
networking.HTTPIngressRuleValue: 1 paths list networking.HTTPIngressPath
networking.IPAddress: 1 metadata meta.ObjectMeta, 2 spec networking.IPAddressSpec
networking.IPAddressSpec: 1 parentRef networking.ParentReference
networking.IPBlock: 1 cidr keep string, 2 except list string
networking.Ingress: 1 metadata meta.ObjectMeta, 2 spec networking.IngressSpec, 3 status networking.IngressStatus
networking.IngressBackend: 4 service networking.IngressServiceBackend, 3 resource core.TypedLocalObjectReference
networking.IngressClass: 1 metadata meta.ObjectMeta, 2 spec networking.IngressClassSpec
networking.IngressClassParametersReference: 1 apiGroup keep string, 2 kind keep string, 3 name keep string, 4 scope keep string, 5 namespace keep string
networking.IngressClassSpec: 1 controller string, 2 parameters networking.IngressClassParametersReference
networking.IngressLoadBalancerIngress: 1 ip string, 2 hostname string, 4 ports list networking.IngressPortStatus
networking.IngressLoadBalancerStatus: 1 ingress list networking.IngressLoadBalancerIngress
networking.IngressPortStatus: 1 port keep int, 2 protocol keep string, 3 error keep string
networking.IngressRule: 1 host string, 2 . inline networking.IngressRuleValue
networking.IngressRuleValue: 1 http networking.HTTPIngressRuleValue
networking.IngressServiceBackend: 1 name keep string, 2 port networking.ServiceBackendPort
networking.IngressSpec: 4 ingressClassName keep string, 1 defaultBackend networking.IngressBackend, 2 tls list networking.IngressTLS, 3 rules list networking.IngressRule
networking.IngressStatus: 1 loadBalancer networking.IngressLoadBalancerStatus
networking.IngressTLS: 1 hosts list string, 2 secretName string
networking.NetworkPolicy: 1 metadata meta.ObjectMeta, 2 spec networking.NetworkPolicySpec
networking.NetworkPolicyEgressRule: 1 ports list networking.NetworkPolicyPort, 2 to list networking.NetworkPolicyPeer
networking.NetworkPolicyIngressRule: 1 ports list networking.NetworkPolicyPort, 2 from list networking.NetworkPolicyPeer
networking.NetworkPolicyPeer: 1 podSelector meta.LabelSelector, 2 namespaceSelector meta.LabelSelector, 3 ipBlock networking.IPBlock
networking.NetworkPolicyPort: 1 protocol keep string, 2 port keep intOrString, 3 endPort keep int
networking.NetworkPolicySpec: 1 podSelector meta.LabelSelector, 2 ingress list networking.NetworkPolicyIngressRule, 3 egress list networking.NetworkPolicyEgressRule, 4 policyTypes list string
networking.ParentReference: 1 group string, 2 resource string, 3 namespace string, 4 name string
networking.ServiceBackendPort: 1 name string, 2 number int
networking.ServiceCIDR: 1 metadata meta.ObjectMeta, 2 spec networking.ServiceCIDRSpec, 3 status networking.ServiceCIDRStatus
networking.ServiceCIDRSpec: 1 cidrs list string
networking.ServiceCIDRStatus: 1 conditions list meta.Condition
node.Overhead: 1 podFixed map quantity
node.RuntimeClass: 1 metadata meta.ObjectMeta, 2 handler keep string, 3 overhead node.Overhead, 4 scheduling node.Scheduling
node.Scheduling: 1 nodeSelector map string, 2 tolerations list core.Toleration
policy.Eviction: 1 metadata meta.ObjectMeta, 2 deleteOptions meta.DeleteOptions
policy.PodDisruptionBudget: 1 metadata meta.ObjectMeta, 2 spec policy.PodDisruptionBudgetSpec, 3 status policy.PodDisruptionBudgetStatus
policy.PodDisruptionBudgetSpec: 1 minAvailable keep intOrString, 2 selector meta.LabelSelector, 3 maxUnavailable keep intOrString, 4 unhealthyPodEvictionPolicy keep string
policy.PodDisruptionBudgetStatus: 1 observedGeneration int, 2 disruptedPods map time, 3 disruptionsAllowed keep int, 4 currentHealthy keep int, 5 desiredHealthy keep int, 6 expectedPods keep int, 7 conditions list meta.Condition
rbac.AggregationRule: 1 clusterRoleSelectors list meta.LabelSelector
rbac.ClusterRole: 1 metadata meta.ObjectMeta, 2 rules list rbac.PolicyRule, 3 aggregationRule rbac.AggregationRule
rbac.ClusterRoleBinding: 1 metadata meta.ObjectMeta, 2 subjects list rbac.Subject, 3 roleRef rbac.RoleRef
rbac.PolicyRule: 1 verbs list string, 2 apiGroups list string, 3 resources list string, 4 resourceNames list string, 5 nonResourceURLs list string
rbac.Role: 1 metadata meta.ObjectMeta, 2 rules list rbac.PolicyRule
rbac.RoleBinding: 1 metadata meta.ObjectMeta, 2 subjects list rbac.Subject, 3 roleRef rbac.RoleRef
rbac.RoleRef: 1 apiGroup keep string, 2 kind keep string, 3 name keep string
rbac.Subject: 1 kind keep string, 2 apiGroup string, 3 name keep string, 4 namespace string
resource.AllocatedDeviceStatus: 1 driver keep string, 2 pool keep string, 3 device keep string, 7 shareID keep string, 4 conditions list meta.Condition, 5 data keep json, 6 networkData resource.NetworkDeviceData
resource.AllocationResult: 1 devices resource.DeviceAllocationResult, 3 nodeSelector core.NodeSelector, 5 allocationTimestamp keep time
resource.CELDeviceSelector: 1 expression keep string
resource.CapacityRequestPolicy: 1 default keep quantity, 3 validValues list quantity, 4 validRange resource.CapacityRequestPolicyRange
resource.CapacityRequestPolicyRange: 1 min keep quantity, 2 max keep quantity, 3 step keep quantity
resource.CapacityRequirements: 1 requests map quantity
resource.Counter: 1 value keep quantity
resource.CounterSet: 1 name keep string, 2 counters map resource.Counter
resource.Device: 1 name keep string, 2 attributes map resource.DeviceAttribute, 3 capacity map resource.DeviceCapacity, 4 consumesCounters list resource.DeviceCounterConsumption, 5 nodeName keep string, 6 nodeSelector core.NodeSelector, 7 allNodes keep bool, 8 taints list resource.DeviceTaint, 9 bindsToNode keep bool, 10 bindingConditions list string, 11 bindingFailureConditions list string, 12 allowMultipleAllocations keep bool, 13 nodeAllocatableResourceMappings map resource.NodeAllocatableResourceMapping
resource.DeviceAllocationConfiguration: 1 source keep string, 2 requests list string, 3 . inline resource.DeviceConfiguration
resource.DeviceAllocationResult: 1 results list resource.DeviceRequestAllocationResult, 2 config list resource.DeviceAllocationConfiguration
resource.DeviceAttribute: 2 int keep int, 3 bool keep bool, 4 string keep string, 5 version keep string, 6 ints list int, 7 bools list bool, 8 strings list string, 9 versions list string
resource.DeviceCapacity: 1 value keep quantity, 2 requestPolicy resource.CapacityRequestPolicy
resource.DeviceClaim: 1 requests list resource.DeviceRequest, 2 constraints list resource.DeviceConstraint, 3 config list resource.DeviceClaimConfiguration
resource.DeviceClaimConfiguration: 1 requests list string, 2 . inline resource.DeviceConfiguration
resource.DeviceClass: 1 metadata meta.ObjectMeta, 2 spec resource.DeviceClassSpec
resource.DeviceClassConfiguration: 1 . inline resource.DeviceConfiguration
resource.DeviceClassSpec: 1 selectors list resource.DeviceSelector, 2 config list resource.DeviceClassConfiguration, 4 extendedResourceName keep string
resource.DeviceConfiguration: 1 opaque resource.OpaqueDeviceConfiguration
resource.DeviceConstraint: 1 requests list string, 2 matchAttribute keep string, 3 distinctAttribute keep string
resource.DeviceCounterConsumption: 1 counterSet keep string, 2 counters map resource.Counter
resource.DeviceRequest: 1 name keep string, 2 exactly resource.ExactDeviceRequest, 3 firstAvailable list resource.DeviceSubRequest
resource.DeviceRequestAllocationResult: 1 request keep string, 2 driver keep string, 3 pool keep string, 4 device keep string, 5 adminAccess keep bool, 6 tolerations list resource.DeviceToleration, 7 bindingConditions list string, 8 bindingFailureConditions list string, 9 shareID keep string, 10 consumedCapacity map quantity
resource.DeviceSelector: 1 cel resource.CELDeviceSelector
resource.DeviceSubRequest: 1 name keep string, 2 deviceClassName keep string, 3 selectors list resource.DeviceSelector, 4 allocationMode string, 5 count int, 6 tolerations list resource.DeviceToleration, 7 capacity resource.CapacityRequirements
resource.DeviceTaint: 1 key keep string, 2 value string, 3 effect keep string, 4 timeAdded keep time
resource.DeviceToleration: 1 key string, 2 operator string, 3 value string, 4 effect string, 5 tolerationSeconds keep int
resource.ExactDeviceRequest: 1 deviceClassName keep string, 2 selectors list resource.DeviceSelector, 3 allocationMode string, 4 count int, 5 adminAccess keep bool, 6 tolerations list resource.DeviceToleration, 7 capacity resource.CapacityRequirements
resource.NetworkDeviceData: 1 interfaceName string, 2 ips list string, 3 hardwareAddress string
resource.NodeAllocatableResourceMapping: 1 capacityKey keep string, 2 allocationMultiplier keep quantity
resource.OpaqueDeviceConfiguration: 1 driver keep string, 2 parameters keep json
resource.ResourceClaim: 1 metadata meta.ObjectMeta, 2 spec resource.ResourceClaimSpec, 3 status resource.ResourceClaimStatus
resource.ResourceClaimConsumerReference: 1 apiGroup string, 3 resource keep string, 4 name keep string, 5 uid keep string
resource.ResourceClaimSpec: 1 devices resource.DeviceClaim
resource.ResourceClaimStatus: 1 allocation resource.AllocationResult, 2 reservedFor list resource.ResourceClaimConsumerReference, 4 devices list resource.AllocatedDeviceStatus
resource.ResourceClaimTemplate: 1 metadata meta.ObjectMeta, 2 spec resource.ResourceClaimTemplateSpec
resource.ResourceClaimTemplateSpec: 1 metadata meta.ObjectMeta, 2 spec resource.ResourceClaimSpec
resource.ResourcePool: 1 name keep string, 2 generation keep int, 3 resourceSliceCount keep int
resource.ResourceSlice: 1 metadata meta.ObjectMeta, 2 spec resource.ResourceSliceSpec
resource.ResourceSliceSpec: 1 driver keep string, 2 pool resource.ResourcePool, 3 nodeName keep string, 4 nodeSelector core.NodeSelector, 5 allNodes keep bool, 6 devices list resource.Device, 7 perDeviceNodeSelection keep bool, 8 sharedCounters list resource.CounterSet
scheduling.PriorityClass: 1 metadata meta.ObjectMeta, 2 value keep int, 3 globalDefault bool, 4 description string, 5 preemptionPolicy keep string
storage.CSIDriver: 1 metadata meta.ObjectMeta, 2 spec storage.CSIDriverSpec
storage.CSIDriverSpec: 1 attachRequired keep bool, 2 podInfoOnMount keep bool, 3 volumeLifecycleModes list string, 4 storageCapacity keep bool, 5 fsGroupPolicy keep string, 6 tokenRequests list storage.TokenRequest, 7 requiresRepublish keep bool, 8 seLinuxMount keep bool, 9 nodeAllocatableUpdatePeriodSeconds keep int, 10 serviceAccountTokenInSecrets keep bool, 11 preventPodSchedulingIfMissing keep bool
storage.CSINode: 1 metadata meta.ObjectMeta, 2 spec storage.CSINodeSpec
storage.CSINodeDriver: 1 name keep string, 2 nodeID keep string, 3 topologyKeys list string, 4 allocatable storage.VolumeNodeResources
storage.CSINodeSpec: 1 drivers list storage.CSINodeDriver
storage.CSIStorageCapacity: 1 metadata meta.ObjectMeta, 2 nodeTopology meta.LabelSelector, 3 storageClassName keep string, 4 capacity keep quantity, 5 maximumVolumeSize keep quantity
storage.StorageClass: 1 metadata meta.ObjectMeta, 2 provisioner keep string, 3 parameters map string, 4 reclaimPolicy keep string, 5 mountOptions list string, 6 allowVolumeExpansion keep bool, 7 volumeBindingMode keep string, 8 allowedTopologies list core.TopologySelectorTerm
storage.TokenRequest: 1 audience keep string, 2 expirationSeconds keep int
storage.VolumeAttachment: 1 metadata meta.ObjectMeta, 2 spec storage.VolumeAttachmentSpec, 3 status storage.VolumeAttachmentStatus
storage.VolumeAttachmentSource: 1 persistentVolumeName keep string, 2 inlineVolumeSpec core.PersistentVolumeSpec
storage.VolumeAttachmentSpec: 1 attacher keep string, 2 source storage.VolumeAttachmentSource, 3 nodeName keep string
storage.VolumeAttachmentStatus: 1 attached keep bool, 2 attachmentMetadata map string, 3 attachError storage.VolumeError, 4 detachError storage.VolumeError
storage.VolumeAttributesClass: 1 metadata meta.ObjectMeta, 2 driverName keep string, 3 parameters map string
storage.VolumeError: 1 time time, 2 message string, 3 errorCode keep int
storage.VolumeNodeResources: 1 count keep int
`

/** The message of each `apiVersion/Kind`. */
export const KIND_LINES = `
admissionregistration.k8s.io/v1/MutatingAdmissionPolicy admissionregistration.MutatingAdmissionPolicy
admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding admissionregistration.MutatingAdmissionPolicyBinding
admissionregistration.k8s.io/v1/MutatingWebhookConfiguration admissionregistration.MutatingWebhookConfiguration
admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy admissionregistration.ValidatingAdmissionPolicy
admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding admissionregistration.ValidatingAdmissionPolicyBinding
admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration admissionregistration.ValidatingWebhookConfiguration
apiextensions.k8s.io/v1/CustomResourceDefinition apiextensions.CustomResourceDefinition
apiregistration.k8s.io/v1/APIService apiregistration.APIService
apps/v1/ControllerRevision apps.ControllerRevision
apps/v1/DaemonSet apps.DaemonSet
apps/v1/Deployment apps.Deployment
apps/v1/ReplicaSet apps.ReplicaSet
apps/v1/StatefulSet apps.StatefulSet
authentication.k8s.io/v1/SelfSubjectReview authentication.SelfSubjectReview
authentication.k8s.io/v1/TokenRequest authentication.TokenRequest
authentication.k8s.io/v1/TokenReview authentication.TokenReview
authorization.k8s.io/v1/LocalSubjectAccessReview authorization.LocalSubjectAccessReview
authorization.k8s.io/v1/SelfSubjectAccessReview authorization.SelfSubjectAccessReview
authorization.k8s.io/v1/SelfSubjectRulesReview authorization.SelfSubjectRulesReview
authorization.k8s.io/v1/SubjectAccessReview authorization.SubjectAccessReview
autoscaling/v1/HorizontalPodAutoscaler autoscaling.HorizontalPodAutoscaler
autoscaling/v1/Scale autoscaling.Scale
autoscaling/v2/HorizontalPodAutoscaler autoscaling2.HorizontalPodAutoscaler
batch/v1/CronJob batch.CronJob
batch/v1/Job batch.Job
certificates.k8s.io/v1/CertificateSigningRequest certificates.CertificateSigningRequest
coordination.k8s.io/v1/Lease coordination.Lease
discovery.k8s.io/v1/EndpointSlice discovery.EndpointSlice
events.k8s.io/v1/Event events.Event
flowcontrol.apiserver.k8s.io/v1/FlowSchema flowcontrol.FlowSchema
flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration flowcontrol.PriorityLevelConfiguration
networking.k8s.io/v1/IPAddress networking.IPAddress
networking.k8s.io/v1/Ingress networking.Ingress
networking.k8s.io/v1/IngressClass networking.IngressClass
networking.k8s.io/v1/NetworkPolicy networking.NetworkPolicy
networking.k8s.io/v1/ServiceCIDR networking.ServiceCIDR
node.k8s.io/v1/RuntimeClass node.RuntimeClass
policy/v1/Eviction policy.Eviction
policy/v1/PodDisruptionBudget policy.PodDisruptionBudget
rbac.authorization.k8s.io/v1/ClusterRole rbac.ClusterRole
rbac.authorization.k8s.io/v1/ClusterRoleBinding rbac.ClusterRoleBinding
rbac.authorization.k8s.io/v1/Role rbac.Role
rbac.authorization.k8s.io/v1/RoleBinding rbac.RoleBinding
resource.k8s.io/v1/DeviceClass resource.DeviceClass
resource.k8s.io/v1/ResourceClaim resource.ResourceClaim
resource.k8s.io/v1/ResourceClaimTemplate resource.ResourceClaimTemplate
resource.k8s.io/v1/ResourceSlice resource.ResourceSlice
scheduling.k8s.io/v1/PriorityClass scheduling.PriorityClass
storage.k8s.io/v1/CSIDriver storage.CSIDriver
storage.k8s.io/v1/CSINode storage.CSINode
storage.k8s.io/v1/CSIStorageCapacity storage.CSIStorageCapacity
storage.k8s.io/v1/StorageClass storage.StorageClass
storage.k8s.io/v1/VolumeAttachment storage.VolumeAttachment
storage.k8s.io/v1/VolumeAttributesClass storage.VolumeAttributesClass
v1/Binding core.Binding
v1/ComponentStatus core.ComponentStatus
v1/ConfigMap core.ConfigMap
v1/Endpoints core.Endpoints
v1/Event core.Event
v1/LimitRange core.LimitRange
v1/Namespace core.Namespace
v1/Node core.Node
v1/PersistentVolume core.PersistentVolume
v1/PersistentVolumeClaim core.PersistentVolumeClaim
v1/Pod core.Pod
v1/PodStatusResult core.PodStatusResult
v1/PodTemplate core.PodTemplate
v1/RangeAllocation core.RangeAllocation
v1/ReplicationController core.ReplicationController
v1/ResourceQuota core.ResourceQuota
v1/Secret core.Secret
v1/Service core.Service
v1/ServiceAccount core.ServiceAccount
`
