// Generated from kube-apiserver v1.36.3 by `npm run builtin-kinds`; the form is explained in ../definitions.ts.

/** Types of fields, one line each, by package. */
export const DEFINITIONS: Readonly<Record<string, string>> = {
'admissionregistration.v1': `
ApplyConfiguration expression:s?
AuditAnnotation key!:s="" valueExpression!:s=""
ExpressionWarning fieldRef!:s="" warning!:s=""
JSONPatch expression:s?
MatchCondition expression!:s="" name!:s=""
MatchResources% excludeResourceRules:[]@NamedRuleWithOperations? matchPolicy:s namespaceSelector:@meta.v1.LabelSelector objectSelector:@meta.v1.LabelSelector resourceRules:[]@NamedRuleWithOperations?
MutatingAdmissionPolicy apiVersion:s? kind:s? metadata:M={} spec:@MutatingAdmissionPolicySpec={}
MutatingAdmissionPolicyBinding apiVersion:s? kind:s? metadata:M={} spec:@MutatingAdmissionPolicyBindingSpec={}
MutatingAdmissionPolicyBindingSpec matchResources:@MatchResources paramRef:@ParamRef policyName:s?
MutatingAdmissionPolicySpec failurePolicy:s matchConditions:[name]@MatchCondition? matchConstraints:@MatchResources mutations:[]@Mutation? paramKind:@ParamKind reinvocationPolicy:s? variables:[]@Variable?
MutatingWebhook admissionReviewVersions!:[]s=null clientConfig!:@WebhookClientConfig={} failurePolicy:s matchConditions:[name]@MatchCondition? matchPolicy:s name!:s="" namespaceSelector:@meta.v1.LabelSelector objectSelector:@meta.v1.LabelSelector reinvocationPolicy:s rules:[]@RuleWithOperations? sideEffects!:s=null timeoutSeconds:i
MutatingWebhookConfiguration apiVersion:s? kind:s? metadata:M={} webhooks:[name]@MutatingWebhook?
Mutation applyConfiguration:@ApplyConfiguration jsonPatch:@JSONPatch patchType!:s=""
NamedRuleWithOperations% apiGroups:[]s? apiVersions:[]s? operations:[]s? resourceNames:[]s? resources:[]s? scope:s
ParamKind% apiVersion:s? kind:s?
ParamRef% name:s? namespace:s? parameterNotFoundAction:s selector:@meta.v1.LabelSelector
RuleWithOperations apiGroups:[]s? apiVersions:[]s? operations:[]s? resources:[]s? scope:s
ServiceReference name!:s="" namespace!:s="" path:s port:i
TypeChecking expressionWarnings:[]@ExpressionWarning?
ValidatingAdmissionPolicy apiVersion:s? kind:s? metadata:M={} spec:@ValidatingAdmissionPolicySpec={} status:@ValidatingAdmissionPolicyStatus={}
ValidatingAdmissionPolicyBinding apiVersion:s? kind:s? metadata:M={} spec!:@ValidatingAdmissionPolicyBindingSpec={}
ValidatingAdmissionPolicyBindingSpec matchResources:@MatchResources paramRef:@ParamRef policyName!:s? validationActions!:[=]s?
ValidatingAdmissionPolicySpec auditAnnotations:[]@AuditAnnotation? failurePolicy:s matchConditions:[name]@MatchCondition? matchConstraints:@MatchResources paramKind:@ParamKind validations:[]@Validation? variables:[name]@Variable?
ValidatingAdmissionPolicyStatus conditions:[type]@meta.v1.Condition~/? observedGeneration:l? typeChecking:@TypeChecking
ValidatingWebhook admissionReviewVersions!:[]s=null clientConfig!:@WebhookClientConfig={} failurePolicy:s matchConditions:[name]@MatchCondition? matchPolicy:s name!:s="" namespaceSelector:@meta.v1.LabelSelector objectSelector:@meta.v1.LabelSelector rules:[]@RuleWithOperations? sideEffects!:s=null timeoutSeconds:i
ValidatingWebhookConfiguration apiVersion:s? kind:s? metadata:M={} webhooks:[name]@ValidatingWebhook?
Validation expression!:s="" message:s? messageExpression:s? reason:s
Variable% expression!:s="" name!:s=""
WebhookClientConfig caBundle:y? service:@ServiceReference url:s
`,
'apiextensions.v1': `
CustomResourceColumnDefinition description:s? format:s? jsonPath!:s="" name!:s="" priority:i? type!:s=""
CustomResourceConversion strategy!:s="" webhook:@WebhookConversion
CustomResourceDefinition apiVersion:s? kind:s? metadata:M={} spec!:@CustomResourceDefinitionSpec={} status:@CustomResourceDefinitionStatus={}
CustomResourceDefinitionCondition lastTransitionTime:t=null message:s? observedGeneration:l? reason:s? status!:s="" type!:s=""
CustomResourceDefinitionNames categories:[]s? kind!:s="" listKind:s? plural!:s="" shortNames:[]s? singular:s?
CustomResourceDefinitionSpec conversion:@CustomResourceConversion group!:s="" names!:@CustomResourceDefinitionNames={} preserveUnknownFields:b? scope!:s="" versions!:[]@CustomResourceDefinitionVersion=null
CustomResourceDefinitionStatus acceptedNames:@CustomResourceDefinitionNames={} conditions:[type]@CustomResourceDefinitionCondition~/=null observedGeneration:l? storedVersions:[]s=null
CustomResourceDefinitionVersion additionalPrinterColumns:[]@CustomResourceColumnDefinition? deprecated:b? deprecationWarning:s name!:s="" schema:@CustomResourceValidation selectableFields:[]@SelectableField? served!:b=false storage!:b=false subresources:@CustomResourceSubresources
CustomResourceSubresourceScale labelSelectorPath:s specReplicasPath!:s="" statusReplicasPath!:s=""
CustomResourceSubresourceStatus
CustomResourceSubresources scale:@CustomResourceSubresourceScale status:@CustomResourceSubresourceStatus
CustomResourceValidation openAPIV3Schema:o
SelectableField jsonPath!:s=""
ServiceReference name!:s="" namespace!:s="" path:s port:i
WebhookClientConfig caBundle:y? service:@ServiceReference url:s
WebhookConversion clientConfig:@WebhookClientConfig conversionReviewVersions!:[]s=null
`,
'apiregistration.v1': `
APIService apiVersion:s? kind:s? metadata:M={} spec:@APIServiceSpec={} status:@APIServiceStatus={}
APIServiceCondition lastTransitionTime:t=null message:s? reason:s? status!:s="" type!:s=""
APIServiceSpec caBundle:y? group:s? groupPriorityMinimum!:i=0 insecureSkipTLSVerify:b? service:@ServiceReference version:s? versionPriority!:i=0
APIServiceStatus conditions:[type]@APIServiceCondition?
ServiceReference name:s? namespace:s? port:i
`,
'apps.v1': `
ControllerRevision apiVersion:s? data:o=null kind:s? metadata:M={} revision!:l=0
DaemonSet apiVersion:s? kind:s? metadata:M={} spec:@DaemonSetSpec={} status:@DaemonSetStatus={}
DaemonSetCondition lastTransitionTime:t=null message:s? reason:s? status!:s="" type!:s=""
DaemonSetSpec minReadySeconds:i? revisionHistoryLimit:i selector!:@meta.v1.LabelSelector=null template!:@core.v1.PodTemplateSpec={} updateStrategy:@DaemonSetUpdateStrategy={}
DaemonSetStatus collisionCount:i conditions:[type]@DaemonSetCondition? currentNumberScheduled!:i=0 desiredNumberScheduled!:i=0 numberAvailable:i? numberMisscheduled!:i=0 numberReady!:i=0 numberUnavailable:i? observedGeneration:l? updatedNumberScheduled:i?
DaemonSetUpdateStrategy rollingUpdate:@RollingUpdateDaemonSet type:s?
Deployment apiVersion:s? kind:s? metadata:M={} spec:@DeploymentSpec={} status:@DeploymentStatus={}
DeploymentCondition lastTransitionTime:t=null lastUpdateTime:t=null message:s? reason:s? status!:s="" type!:s=""
DeploymentSpec minReadySeconds:i? paused:b? progressDeadlineSeconds:i replicas:i revisionHistoryLimit:i selector!:@meta.v1.LabelSelector=null strategy:@DeploymentStrategy~retainKeys/={} template!:@core.v1.PodTemplateSpec={}
DeploymentStatus availableReplicas:i? collisionCount:i conditions:[type]@DeploymentCondition? observedGeneration:l? readyReplicas:i? replicas:i? terminatingReplicas:i unavailableReplicas:i? updatedReplicas:i?
DeploymentStrategy rollingUpdate:@RollingUpdateDeployment type:s?
ReplicaSet apiVersion:s? kind:s? metadata:M={} spec:@ReplicaSetSpec={} status:@ReplicaSetStatus={}
ReplicaSetCondition lastTransitionTime:t=null message:s? reason:s? status!:s="" type!:s=""
ReplicaSetSpec minReadySeconds:i? replicas:i selector!:@meta.v1.LabelSelector=null template:@core.v1.PodTemplateSpec={}
ReplicaSetStatus availableReplicas:i? conditions:[type]@ReplicaSetCondition? fullyLabeledReplicas:i? observedGeneration:l? readyReplicas:i? replicas!:i=0 terminatingReplicas:i
RollingUpdateDaemonSet maxSurge:x maxUnavailable:x
RollingUpdateDeployment maxSurge:x maxUnavailable:x
RollingUpdateStatefulSetStrategy maxUnavailable:x partition:i
StatefulSet apiVersion:s? kind:s? metadata:M={} spec:@StatefulSetSpec={} status:@StatefulSetStatus={}
StatefulSetCondition lastTransitionTime:t=null message:s? reason:s? status!:s="" type!:s=""
StatefulSetOrdinals start:i=0
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted:s? whenScaled:s?
StatefulSetSpec minReadySeconds:i? ordinals:@StatefulSetOrdinals persistentVolumeClaimRetentionPolicy:@StatefulSetPersistentVolumeClaimRetentionPolicy podManagementPolicy:s? replicas:i revisionHistoryLimit:i selector!:@meta.v1.LabelSelector=null serviceName:s="" template!:@core.v1.PodTemplateSpec={} updateStrategy:@StatefulSetUpdateStrategy={} volumeClaimTemplates:[]@core.v1.PersistentVolumeClaim?
StatefulSetStatus availableReplicas:i=0 collisionCount:i conditions:[type]@StatefulSetCondition? currentReplicas:i? currentRevision:s? observedGeneration:l? readyReplicas:i? replicas!:i=0 updateRevision:s? updatedReplicas:i?
StatefulSetUpdateStrategy rollingUpdate:@RollingUpdateStatefulSetStrategy type:s?
`,
'autoscaling.v1': `
CrossVersionObjectReference% apiVersion:s? kind!:s="" name!:s=""
HorizontalPodAutoscaler apiVersion:s? kind:s? metadata:M={} spec!:@HorizontalPodAutoscalerSpec={} status:@HorizontalPodAutoscalerStatus={}
HorizontalPodAutoscalerSpec maxReplicas!:i=0 minReplicas:i scaleTargetRef!:@CrossVersionObjectReference={} targetCPUUtilizationPercentage:i
HorizontalPodAutoscalerStatus currentCPUUtilizationPercentage:i currentReplicas!:i=0 desiredReplicas!:i=0 lastScaleTime:t observedGeneration:l
`,
'autoscaling.v2': `
ContainerResourceMetricSource container!:s="" name!:s="" target!:@MetricTarget={}
ContainerResourceMetricStatus container!:s="" current!:@MetricValueStatus={} name!:s=""
CrossVersionObjectReference apiVersion:s? kind!:s="" name!:s=""
ExternalMetricSource metric!:@MetricIdentifier={} target!:@MetricTarget={}
ExternalMetricStatus current!:@MetricValueStatus={} metric!:@MetricIdentifier={}
HPAScalingPolicy periodSeconds!:i=0 type!:s="" value!:i=0
HPAScalingRules policies:[]@HPAScalingPolicy? selectPolicy:s stabilizationWindowSeconds:i tolerance:q
HorizontalPodAutoscaler apiVersion:s? kind:s? metadata:M={} spec!:@HorizontalPodAutoscalerSpec={} status:@HorizontalPodAutoscalerStatus={}
HorizontalPodAutoscalerBehavior scaleDown:@HPAScalingRules scaleUp:@HPAScalingRules
HorizontalPodAutoscalerCondition lastTransitionTime:t=null message:s? reason:s? status!:s="" type!:s=""
HorizontalPodAutoscalerSpec behavior:@HorizontalPodAutoscalerBehavior maxReplicas!:i=0 metrics:[]@MetricSpec? minReplicas:i scaleTargetRef!:@CrossVersionObjectReference={}
HorizontalPodAutoscalerStatus conditions:[type]@HorizontalPodAutoscalerCondition? currentMetrics:[]@MetricStatus=null currentReplicas:i? desiredReplicas!:i=0 lastScaleTime:t observedGeneration:l
MetricIdentifier name!:s="" selector:@meta.v1.LabelSelector
MetricSpec containerResource:@ContainerResourceMetricSource external:@ExternalMetricSource object:@ObjectMetricSource pods:@PodsMetricSource resource:@ResourceMetricSource type!:s=""
MetricStatus containerResource:@ContainerResourceMetricStatus external:@ExternalMetricStatus object:@ObjectMetricStatus pods:@PodsMetricStatus resource:@ResourceMetricStatus type!:s=""
MetricTarget averageUtilization:i averageValue:q type!:s="" value:q
MetricValueStatus averageUtilization:i averageValue:q value:q
ObjectMetricSource describedObject!:@CrossVersionObjectReference={} metric!:@MetricIdentifier={} target!:@MetricTarget={}
ObjectMetricStatus current!:@MetricValueStatus={} describedObject!:@CrossVersionObjectReference={} metric!:@MetricIdentifier={}
PodsMetricSource metric!:@MetricIdentifier={} target!:@MetricTarget={}
PodsMetricStatus current!:@MetricValueStatus={} metric!:@MetricIdentifier={}
ResourceMetricSource name!:s="" target!:@MetricTarget={}
ResourceMetricStatus current!:@MetricValueStatus={} name!:s=""
`,
'batch.v1': `
CronJob apiVersion:s? kind:s? metadata:M={} spec!:@CronJobSpec={} status:@CronJobStatus={}
CronJobSpec concurrencyPolicy:s? failedJobsHistoryLimit:i jobTemplate!:@JobTemplateSpec={} schedule!:s="" startingDeadlineSeconds:l successfulJobsHistoryLimit:i suspend:b timeZone:s
CronJobStatus active:[]@core.v1.ObjectReference? lastScheduleTime:t lastSuccessfulTime:t
Job apiVersion:s? kind:s? metadata:M={} spec:@JobSpec={} status:@JobStatus={}
JobCondition lastProbeTime:t=null lastTransitionTime:t=null message:s? reason:s? status!:s="" type!:s=""
JobSpec activeDeadlineSeconds:l backoffLimit:i backoffLimitPerIndex:i completionMode:s completions:i managedBy:s manualSelector:b maxFailedIndexes:i parallelism:i podFailurePolicy:@PodFailurePolicy podReplacementPolicy:s selector:@meta.v1.LabelSelector successPolicy:@SuccessPolicy suspend:b template!:@core.v1.PodTemplateSpec={} ttlSecondsAfterFinished:i
JobStatus active:i? completedIndexes:s? completionTime:t conditions:[]@JobCondition~merge/type? failed:i? failedIndexes:s ready:i startTime:t succeeded:i? terminating:i uncountedTerminatedPods:@UncountedTerminatedPods
JobTemplateSpec metadata:M={} spec:@JobSpec={}
PodFailurePolicy rules!:[]@PodFailurePolicyRule=null
PodFailurePolicyOnExitCodesRequirement containerName:s operator!:s="" values!:[=]i=null
PodFailurePolicyOnPodConditionsPattern status:s="" type!:s=""
PodFailurePolicyRule action!:s="" onExitCodes:@PodFailurePolicyOnExitCodesRequirement onPodConditions:[]@PodFailurePolicyOnPodConditionsPattern?
SuccessPolicy rules!:[]@SuccessPolicyRule=null
SuccessPolicyRule succeededCount:i succeededIndexes:s
UncountedTerminatedPods failed:[=]s? succeeded:[=]s?
`,
'certificates.v1': `
CertificateSigningRequest apiVersion:s? kind:s? metadata:M={} spec!:@CertificateSigningRequestSpec={} status:@CertificateSigningRequestStatus={}
CertificateSigningRequestCondition lastTransitionTime:t=null lastUpdateTime:t=null message:s? reason:s? status!:s="" type!:s=""
CertificateSigningRequestSpec expirationSeconds:i extra:{}[]s? groups:[]s? request!:y=null signerName!:s="" uid:s? usages:[]s? username:s?
CertificateSigningRequestStatus certificate:y? conditions:[type]@CertificateSigningRequestCondition~/?
`,
'coordination.v1': `
Lease apiVersion:s? kind:s? metadata:M={} spec:@LeaseSpec={}
LeaseSpec acquireTime:t holderIdentity:s leaseDurationSeconds:i leaseTransitions:i preferredHolder:s renewTime:t strategy:s
`,
'core.v1': `
AWSElasticBlockStoreVolumeSource fsType:s? partition:i? readOnly:b? volumeID!:s=""
Affinity nodeAffinity:@NodeAffinity podAffinity:@PodAffinity podAntiAffinity:@PodAntiAffinity
AppArmorProfile localhostProfile:s type!:s=""
AttachedVolume devicePath!:s="" name!:s=""
AzureDiskVolumeSource cachingMode:s diskName!:s="" diskURI!:s="" fsType:s kind:s readOnly:b
AzureFilePersistentVolumeSource readOnly:b? secretName!:s="" secretNamespace:s=null shareName!:s=""
AzureFileVolumeSource readOnly:b? secretName!:s="" shareName!:s=""
CSIPersistentVolumeSource controllerExpandSecretRef:@SecretReference controllerPublishSecretRef:@SecretReference driver!:s="" fsType:s? nodeExpandSecretRef:@SecretReference nodePublishSecretRef:@SecretReference nodeStageSecretRef:@SecretReference readOnly:b? volumeAttributes:{}s? volumeHandle!:s=""
CSIVolumeSource driver!:s="" fsType:s nodePublishSecretRef:@LocalObjectReference readOnly:b volumeAttributes:{}s?
Capabilities add:[]s? drop:[]s?
CephFSPersistentVolumeSource monitors!:[]s=null path:s? readOnly:b? secretFile:s? secretRef:@SecretReference user:s?
CephFSVolumeSource monitors!:[]s=null path:s? readOnly:b? secretFile:s? secretRef:@LocalObjectReference user:s?
CinderPersistentVolumeSource fsType:s? readOnly:b? secretRef:@SecretReference volumeID!:s=""
CinderVolumeSource fsType:s? readOnly:b? secretRef:@LocalObjectReference volumeID!:s=""
ClientIPConfig timeoutSeconds:i
ClusterTrustBundleProjection labelSelector:@meta.v1.LabelSelector name:s optional:b path!:s="" signerName:s
ConfigMap apiVersion:s? binaryData:{}y? data:{}s? immutable:b kind:s? metadata:M={}
ConfigMapEnvSource name:s? optional:b
ConfigMapKeySelector% key!:s="" name:s? optional:b
ConfigMapNodeConfigSource kubeletConfigKey!:s="" name!:s="" namespace!:s="" resourceVersion:s? uid:s?
ConfigMapProjection items:[]@KeyToPath? name:s? optional:b
ConfigMapVolumeSource defaultMode:i items:[]@KeyToPath? name:s? optional:b
Container args:[]s? command:[]s? env:[name]@EnvVar? envFrom:[]@EnvFromSource? image:s? imagePullPolicy:s? lifecycle:@Lifecycle livenessProbe:@Probe name!:s="" ports:[containerPort+protocol]@ContainerPort? readinessProbe:@Probe resizePolicy:[]@ContainerResizePolicy? resources:@ResourceRequirements={} restartPolicy:s restartPolicyRules:[]@ContainerRestartRule? securityContext:@SecurityContext startupProbe:@Probe stdin:b? stdinOnce:b? terminationMessagePath:s? terminationMessagePolicy:s? tty:b? volumeDevices:[devicePath]@VolumeDevice? volumeMounts:[mountPath]@VolumeMount? workingDir:s?
ContainerExtendedResourceRequest containerName!:s="" requestName!:s="" resourceName!:s=""
ContainerImage names:[]s=null sizeBytes:l?
ContainerPort containerPort!:i=0 hostIP:s? hostPort:i? name:s? protocol:s?
ContainerResizePolicy resourceName!:s="" restartPolicy!:s=""
ContainerRestartRule action!:s? exitCodes:@ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes operator!:s? values:[=]i?
ContainerState running:@ContainerStateRunning terminated:@ContainerStateTerminated waiting:@ContainerStateWaiting
ContainerStateRunning startedAt:t=null
ContainerStateTerminated containerID:s? exitCode!:i=0 finishedAt:t=null message:s? reason:s? signal:i? startedAt:t=null
ContainerStateWaiting message:s? reason:s?
ContainerStatus allocatedResources:{}q? allocatedResourcesStatus:[name]@ResourceStatus? containerID:s? image!:s="" imageID!:s="" lastState:@ContainerState={} name!:s="" ready!:b=false resources:@ResourceRequirements restartCount!:i=0 started:b state:@ContainerState={} stopSignal:s user:@ContainerUser volumeMounts:[mountPath]@VolumeMountStatus?
ContainerUser linux:@LinuxContainerUser
DaemonEndpoint Port!:i=0
DownwardAPIProjection items:[]@DownwardAPIVolumeFile?
DownwardAPIVolumeFile fieldRef:@ObjectFieldSelector mode:i path!:s="" resourceFieldRef:@ResourceFieldSelector
DownwardAPIVolumeSource defaultMode:i items:[]@DownwardAPIVolumeFile?
EmptyDirVolumeSource medium:s? sizeLimit:q
EndpointAddress% hostname:s? ip!:s="" nodeName:s targetRef:@ObjectReference
EndpointPort% appProtocol:s name:s? port!:i=0 protocol:s?
EndpointSubset addresses:[]@EndpointAddress? notReadyAddresses:[]@EndpointAddress? ports:[]@EndpointPort?
Endpoints apiVersion:s? kind:s? metadata:M={} subsets:[]@EndpointSubset?
EnvFromSource configMapRef:@ConfigMapEnvSource prefix:s? secretRef:@SecretEnvSource
EnvVar name!:s="" value:s? valueFrom:@EnvVarSource
EnvVarSource configMapKeyRef:@ConfigMapKeySelector fieldRef:@ObjectFieldSelector fileKeyRef:@FileKeySelector resourceFieldRef:@ResourceFieldSelector secretKeyRef:@SecretKeySelector
EphemeralContainer args:[]s? command:[]s? env:[name]@EnvVar? envFrom:[]@EnvFromSource? image:s? imagePullPolicy:s? lifecycle:@Lifecycle livenessProbe:@Probe name!:s="" ports:[containerPort+protocol]@ContainerPort? readinessProbe:@Probe resizePolicy:[]@ContainerResizePolicy? resources:@ResourceRequirements={} restartPolicy:s restartPolicyRules:[]@ContainerRestartRule? securityContext:@SecurityContext startupProbe:@Probe stdin:b? stdinOnce:b? targetContainerName:s? terminationMessagePath:s? terminationMessagePolicy:s? tty:b? volumeDevices:[devicePath]@VolumeDevice? volumeMounts:[mountPath]@VolumeMount? workingDir:s?
EphemeralVolumeSource volumeClaimTemplate:@PersistentVolumeClaimTemplate
Event action:s? apiVersion:s? count:i? eventTime:t=null firstTimestamp:t=null involvedObject!:@ObjectReference={} kind:s? lastTimestamp:t=null message:s? metadata!:M={} reason:s? related:@ObjectReference reportingComponent:s="" reportingInstance:s="" series:@EventSeries source:@EventSource={} type:s?
EventSeries count:i? lastObservedTime:t=null
EventSource component:s? host:s?
ExecAction command:[]s?
FCVolumeSource fsType:s? lun:i readOnly:b? targetWWNs:[]s? wwids:[]s?
FileKeySelector% key!:s="" optional:b path!:s="" volumeName!:s=""
FlexPersistentVolumeSource driver!:s="" fsType:s? options:{}s? readOnly:b? secretRef:@SecretReference
FlexVolumeSource driver!:s="" fsType:s? options:{}s? readOnly:b? secretRef:@LocalObjectReference
FlockerVolumeSource datasetName:s? datasetUUID:s?
GCEPersistentDiskVolumeSource fsType:s? partition:i? pdName!:s="" readOnly:b?
GRPCAction port!:i=0 service:s=null
GitRepoVolumeSource directory:s? repository!:s="" revision:s?
GlusterfsPersistentVolumeSource endpoints!:s="" endpointsNamespace:s path!:s="" readOnly:b?
GlusterfsVolumeSource endpoints!:s="" path!:s="" readOnly:b?
HTTPGetAction host:s? httpHeaders:[]@HTTPHeader? path:s? port!:x=0 scheme:s?
HTTPHeader name!:s="" value!:s=""
HostAlias hostnames:[]s? ip!:s=""
HostIP ip!:s=""
HostPathVolumeSource path!:s="" type:s
ISCSIPersistentVolumeSource chapAuthDiscovery:b? chapAuthSession:b? fsType:s? initiatorName:s iqn!:s="" iscsiInterface:s? lun!:i=0 portals:[]s? readOnly:b? secretRef:@SecretReference targetPortal!:s=""
ISCSIVolumeSource chapAuthDiscovery:b? chapAuthSession:b? fsType:s? initiatorName:s iqn!:s="" iscsiInterface:s? lun!:i=0 portals:[]s? readOnly:b? secretRef:@LocalObjectReference targetPortal!:s=""
ImageVolumeSource pullPolicy:s? reference:s?
ImageVolumeStatus imageRef!:s?
KeyToPath key!:s="" mode:i path!:s=""
Lifecycle postStart:@LifecycleHandler preStop:@LifecycleHandler stopSignal:s
LifecycleHandler exec:@ExecAction httpGet:@HTTPGetAction sleep:@SleepAction tcpSocket:@TCPSocketAction
LimitRange apiVersion:s? kind:s? metadata:M={} spec:@LimitRangeSpec={}
LimitRangeItem default:{}q? defaultRequest:{}q? max:{}q? maxLimitRequestRatio:{}q? min:{}q? type!:s=""
LimitRangeSpec limits!:[]@LimitRangeItem=null
LinuxContainerUser gid!:l=0 supplementalGroups:[]l? uid!:l=0
LoadBalancerIngress hostname:s? ip:s? ipMode:s ports:[]@PortStatus?
LoadBalancerStatus ingress:[]@LoadBalancerIngress?
LocalObjectReference% name:s?
LocalVolumeSource fsType:s path!:s=""
ModifyVolumeStatus status!:s="" targetVolumeAttributesClassName:s?
NFSVolumeSource path!:s="" readOnly:b? server!:s=""
Namespace apiVersion:s? kind:s? metadata:M={} spec:@NamespaceSpec={} status:@NamespaceStatus={}
NamespaceCondition lastTransitionTime:t=null message:s? reason:s? status!:s="" type!:s=""
NamespaceSpec finalizers:[]s?
NamespaceStatus conditions:[type]@NamespaceCondition? phase:s?
Node apiVersion:s? kind:s? metadata:M={} spec:@NodeSpec={} status:@NodeStatus={}
NodeAddress address!:s="" type!:s=""
NodeAffinity preferredDuringSchedulingIgnoredDuringExecution:[]@PreferredSchedulingTerm? requiredDuringSchedulingIgnoredDuringExecution:@NodeSelector
NodeAllocatableResourceClaimStatus containers:[=]s? resourceClaimName!:s="" resources!:{}q=null
NodeCondition lastHeartbeatTime:t=null lastTransitionTime:t=null message:s? reason:s? status!:s="" type!:s=""
NodeConfigSource configMap:@ConfigMapNodeConfigSource
NodeConfigStatus active:@NodeConfigSource assigned:@NodeConfigSource error:s? lastKnownGood:@NodeConfigSource
NodeDaemonEndpoints kubeletEndpoint:@DaemonEndpoint={}
NodeFeatures supplementalGroupsPolicy:b
NodeRuntimeHandler features:@NodeRuntimeHandlerFeatures name:s=""
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts:b userNamespaces:b
NodeSelector% nodeSelectorTerms!:[]@NodeSelectorTerm=null
NodeSelectorRequirement key!:s="" operator!:s="" values:[]s?
NodeSelectorTerm% matchExpressions:[]@NodeSelectorRequirement? matchFields:[]@NodeSelectorRequirement?
NodeSpec configSource:@NodeConfigSource externalID:s? podCIDR:s? podCIDRs:[=]s~merge/? providerID:s? taints:[]@Taint? unschedulable:b?
NodeStatus addresses:[type]@NodeAddress? allocatable:{}q? capacity:{}q? conditions:[type]@NodeCondition? config:@NodeConfigStatus daemonEndpoints:@NodeDaemonEndpoints={} declaredFeatures:[]s? features:@NodeFeatures images:[]@ContainerImage? nodeInfo:@NodeSystemInfo={} phase:s? runtimeHandlers:[]@NodeRuntimeHandler? volumesAttached:[]@AttachedVolume? volumesInUse:[]s?
NodeSwapStatus capacity:l
NodeSystemInfo architecture!:s="" bootID!:s="" containerRuntimeVersion!:s="" kernelVersion!:s="" kubeProxyVersion!:s="" kubeletVersion!:s="" machineID!:s="" operatingSystem!:s="" osImage!:s="" swap:@NodeSwapStatus systemUUID!:s=""
ObjectFieldSelector% apiVersion:s? fieldPath!:s=""
ObjectReference% apiVersion:s? fieldPath:s? kind:s? name:s? namespace:s? resourceVersion:s? uid:s?
PersistentVolume apiVersion:s? kind:s? metadata:M={} spec:@PersistentVolumeSpec={} status:@PersistentVolumeStatus={}
PersistentVolumeClaim apiVersion:s? kind:s? metadata:M={} spec:@PersistentVolumeClaimSpec={} status:@PersistentVolumeClaimStatus={}
PersistentVolumeClaimCondition lastProbeTime:t=null lastTransitionTime:t=null message:s? reason:s? status!:s="" type!:s=""
PersistentVolumeClaimSpec accessModes:[]s? dataSource:@TypedLocalObjectReference dataSourceRef:@TypedObjectReference resources:@VolumeResourceRequirements={} selector:@meta.v1.LabelSelector storageClassName:s volumeAttributesClassName:s volumeMode:s volumeName:s?
PersistentVolumeClaimStatus accessModes:[]s? allocatedResourceStatuses:{}s? allocatedResources:{}q? capacity:{}q? conditions:[type]@PersistentVolumeClaimCondition? currentVolumeAttributesClassName:s modifyVolumeStatus:@ModifyVolumeStatus phase:s?
PersistentVolumeClaimTemplate metadata:M={} spec!:@PersistentVolumeClaimSpec={}
PersistentVolumeClaimVolumeSource claimName!:s="" readOnly:b?
PersistentVolumeSpec accessModes:[]s? awsElasticBlockStore:@AWSElasticBlockStoreVolumeSource azureDisk:@AzureDiskVolumeSource azureFile:@AzureFilePersistentVolumeSource capacity:{}q? cephfs:@CephFSPersistentVolumeSource cinder:@CinderPersistentVolumeSource claimRef:@ObjectReference csi:@CSIPersistentVolumeSource fc:@FCVolumeSource flexVolume:@FlexPersistentVolumeSource flocker:@FlockerVolumeSource gcePersistentDisk:@GCEPersistentDiskVolumeSource glusterfs:@GlusterfsPersistentVolumeSource hostPath:@HostPathVolumeSource iscsi:@ISCSIPersistentVolumeSource local:@LocalVolumeSource mountOptions:[]s? nfs:@NFSVolumeSource nodeAffinity:@VolumeNodeAffinity persistentVolumeReclaimPolicy:s? photonPersistentDisk:@PhotonPersistentDiskVolumeSource portworxVolume:@PortworxVolumeSource quobyte:@QuobyteVolumeSource rbd:@RBDPersistentVolumeSource scaleIO:@ScaleIOPersistentVolumeSource storageClassName:s? storageos:@StorageOSPersistentVolumeSource volumeAttributesClassName:s volumeMode:s vsphereVolume:@VsphereVirtualDiskVolumeSource
PersistentVolumeStatus lastPhaseTransitionTime:t message:s? phase:s? reason:s?
PhotonPersistentDiskVolumeSource fsType:s? pdID!:s=""
Pod apiVersion:s? kind:s? metadata:M={} spec:@PodSpec={} status:@PodStatus={}
PodAffinity preferredDuringSchedulingIgnoredDuringExecution:[]@WeightedPodAffinityTerm? requiredDuringSchedulingIgnoredDuringExecution:[]@PodAffinityTerm?
PodAffinityTerm labelSelector:@meta.v1.LabelSelector matchLabelKeys:[]s? mismatchLabelKeys:[]s? namespaceSelector:@meta.v1.LabelSelector namespaces:[]s? topologyKey!:s=""
PodAntiAffinity preferredDuringSchedulingIgnoredDuringExecution:[]@WeightedPodAffinityTerm? requiredDuringSchedulingIgnoredDuringExecution:[]@PodAffinityTerm?
PodCertificateProjection certificateChainPath:s? credentialBundlePath:s? keyPath:s? keyType!:s? maxExpirationSeconds:i signerName!:s? userAnnotations:{}s?
PodCondition lastProbeTime:t=null lastTransitionTime:t=null message:s? observedGeneration:l? reason:s? status!:s="" type!:s=""
PodDNSConfig nameservers:[]s? options:[]@PodDNSConfigOption? searches:[]s?
PodDNSConfigOption name:s? value:s
PodExtendedResourceClaimStatus requestMappings!:[]@ContainerExtendedResourceRequest=null resourceClaimName!:s=""
PodIP ip!:s=""
PodOS name!:s=""
PodReadinessGate conditionType!:s=""
PodResourceClaim name!:s="" resourceClaimName:s resourceClaimTemplateName:s
PodResourceClaimStatus name!:s="" resourceClaimName:s
PodSchedulingGate name!:s=""
PodSchedulingGroup podGroupName:s
PodSecurityContext appArmorProfile:@AppArmorProfile fsGroup:l fsGroupChangePolicy:s runAsGroup:l runAsNonRoot:b runAsUser:l seLinuxChangePolicy:s seLinuxOptions:@SELinuxOptions seccompProfile:@SeccompProfile supplementalGroups:[]l? supplementalGroupsPolicy:s sysctls:[]@Sysctl? windowsOptions:@WindowsSecurityContextOptions
PodSpec activeDeadlineSeconds:l affinity:@Affinity automountServiceAccountToken:b containers!:[name]@Container=null dnsConfig:@PodDNSConfig dnsPolicy:s? enableServiceLinks:b ephemeralContainers:[name]@EphemeralContainer? hostAliases:[ip]@HostAlias? hostIPC:b? hostNetwork:b? hostPID:b? hostUsers:b hostname:s? hostnameOverride:s imagePullSecrets:[name]@LocalObjectReference? initContainers:[name]@Container? nodeName:s? nodeSelector:%{}s? os:@PodOS overhead:{}q? preemptionPolicy:s priority:i priorityClassName:s? readinessGates:[]@PodReadinessGate? resourceClaims:[name]@PodResourceClaim~merge,retainKeys/name? resources:@ResourceRequirements restartPolicy:s? runtimeClassName:s schedulerName:s? schedulingGates:[name]@PodSchedulingGate? schedulingGroup:@PodSchedulingGroup securityContext:@PodSecurityContext serviceAccount:s? serviceAccountName:s? setHostnameAsFQDN:b shareProcessNamespace:b subdomain:s? terminationGracePeriodSeconds:l tolerations:[]@Toleration? topologySpreadConstraints:[topologyKey+whenUnsatisfiable]@TopologySpreadConstraint? volumes:[name]@Volume~merge,retainKeys/name?
PodStatus allocatedResources:{}q? conditions:[type]@PodCondition? containerStatuses:[]@ContainerStatus? ephemeralContainerStatuses:[]@ContainerStatus? extendedResourceClaimStatus:@PodExtendedResourceClaimStatus hostIP:s? hostIPs:[]@HostIP~merge/ip? initContainerStatuses:[]@ContainerStatus? message:s? nodeAllocatableResourceClaimStatuses:[]@NodeAllocatableResourceClaimStatus? nominatedNodeName:s? observedGeneration:l? phase:s? podIP:s? podIPs:[ip]@PodIP? qosClass:s? reason:s? resize:s? resourceClaimStatuses:[name]@PodResourceClaimStatus~merge,retainKeys/name? resources:@ResourceRequirements startTime:t
PodTemplate apiVersion:s? kind:s? metadata:M={} template:@PodTemplateSpec={}
PodTemplateSpec metadata:M={} spec:@PodSpec={}
PortStatus error:s port!:i=0 protocol!:s=""
PortworxVolumeSource fsType:s? readOnly:b? volumeID!:s=""
PreferredSchedulingTerm preference!:@NodeSelectorTerm={} weight!:i=0
Probe exec:@ExecAction failureThreshold:i? grpc:@GRPCAction httpGet:@HTTPGetAction initialDelaySeconds:i? periodSeconds:i? successThreshold:i? tcpSocket:@TCPSocketAction terminationGracePeriodSeconds:l timeoutSeconds:i?
ProjectedVolumeSource defaultMode:i sources:[]@VolumeProjection=null
QuobyteVolumeSource group:s? readOnly:b? registry!:s="" tenant:s? user:s? volume!:s=""
RBDPersistentVolumeSource fsType:s? image!:s="" keyring:s? monitors!:[]s=null pool:s? readOnly:b? secretRef:@SecretReference user:s?
RBDVolumeSource fsType:s? image!:s="" keyring:s? monitors!:[]s=null pool:s? readOnly:b? secretRef:@LocalObjectReference user:s?
ReplicationController apiVersion:s? kind:s? metadata:M={} spec:@ReplicationControllerSpec={} status:@ReplicationControllerStatus={}
ReplicationControllerCondition lastTransitionTime:t=null message:s? reason:s? status!:s="" type!:s=""
ReplicationControllerSpec minReadySeconds:i? replicas:i selector:%{}s? template:@PodTemplateSpec
ReplicationControllerStatus availableReplicas:i? conditions:[type]@ReplicationControllerCondition? fullyLabeledReplicas:i? observedGeneration:l? readyReplicas:i? replicas!:i=0
ResourceClaim name!:s="" request:s?
ResourceFieldSelector% containerName:s? divisor:q="0" resource!:s=""
ResourceHealth health:s? message:s resourceID!:s=""
ResourceQuota apiVersion:s? kind:s? metadata:M={} spec:@ResourceQuotaSpec={} status:@ResourceQuotaStatus={}
ResourceQuotaSpec hard:{}q? scopeSelector:@ScopeSelector scopes:[]s?
ResourceQuotaStatus hard:{}q? used:{}q?
ResourceRequirements claims:[name]@ResourceClaim~/? limits:{}q? requests:{}q?
ResourceStatus name!:s="" resources:[resourceID]@ResourceHealth~/?
SELinuxOptions level:s? role:s? type:s? user:s?
ScaleIOPersistentVolumeSource fsType:s? gateway!:s="" protectionDomain:s? readOnly:b? secretRef!:@SecretReference=null sslEnabled:b? storageMode:s? storagePool:s? system!:s="" volumeName:s?
ScaleIOVolumeSource fsType:s? gateway!:s="" protectionDomain:s? readOnly:b? secretRef!:@LocalObjectReference=null sslEnabled:b? storageMode:s? storagePool:s? system!:s="" volumeName:s?
ScopeSelector% matchExpressions:[]@ScopedResourceSelectorRequirement?
ScopedResourceSelectorRequirement operator!:s="" scopeName!:s="" values:[]s?
SeccompProfile localhostProfile:s type!:s=""
Secret apiVersion:s? data:{}y? immutable:b kind:s? metadata:M={} stringData:{}s? type:s?
SecretEnvSource name:s? optional:b
SecretKeySelector% key!:s="" name:s? optional:b
SecretProjection items:[]@KeyToPath? name:s? optional:b
SecretReference% name:s? namespace:s?
SecretVolumeSource defaultMode:i items:[]@KeyToPath? optional:b secretName:s?
SecurityContext allowPrivilegeEscalation:b appArmorProfile:@AppArmorProfile capabilities:@Capabilities privileged:b procMount:s readOnlyRootFilesystem:b runAsGroup:l runAsNonRoot:b runAsUser:l seLinuxOptions:@SELinuxOptions seccompProfile:@SeccompProfile windowsOptions:@WindowsSecurityContextOptions
Service apiVersion:s? kind:s? metadata:M={} spec:@ServiceSpec={} status:@ServiceStatus={}
ServiceAccount apiVersion:s? automountServiceAccountToken:b imagePullSecrets:[]@LocalObjectReference? kind:s? metadata:M={} secrets:[name]@ObjectReference?
ServiceAccountTokenProjection audience:s? expirationSeconds:l path!:s=""
ServicePort appProtocol:s name:s? nodePort:i? port!:i=0 protocol:s? targetPort:x=0
ServiceSpec allocateLoadBalancerNodePorts:b clusterIP:s? clusterIPs:[]s? externalIPs:[]s? externalName:s? externalTrafficPolicy:s? healthCheckNodePort:i? internalTrafficPolicy:s ipFamilies:[]s? ipFamilyPolicy:s loadBalancerClass:s loadBalancerIP:s? loadBalancerSourceRanges:[]s? ports:[port+protocol]@ServicePort? publishNotReadyAddresses:b? selector:%{}s? sessionAffinity:s? sessionAffinityConfig:@SessionAffinityConfig trafficDistribution:s type:s?
ServiceStatus conditions:[type]@meta.v1.Condition? loadBalancer:@LoadBalancerStatus={}
SessionAffinityConfig clientIP:@ClientIPConfig
SleepAction seconds!:l=0
StorageOSPersistentVolumeSource fsType:s? readOnly:b? secretRef:@ObjectReference volumeName:s? volumeNamespace:s?
StorageOSVolumeSource fsType:s? readOnly:b? secretRef:@LocalObjectReference volumeName:s? volumeNamespace:s?
Sysctl name!:s="" value!:s=""
TCPSocketAction host:s? port!:x=0
Taint effect!:s="" key!:s="" timeAdded:t value:s?
Toleration effect:s? key:s? operator:s? tolerationSeconds:l value:s?
TopologySelectorLabelRequirement key!:s="" values!:[]s=null
TopologySelectorTerm% matchLabelExpressions:[]@TopologySelectorLabelRequirement?
TopologySpreadConstraint labelSelector:@meta.v1.LabelSelector matchLabelKeys:[]s? maxSkew!:i=0 minDomains:i nodeAffinityPolicy:s nodeTaintsPolicy:s topologyKey!:s="" whenUnsatisfiable!:s=""
TypedLocalObjectReference% apiGroup:s=null kind!:s="" name!:s=""
TypedObjectReference apiGroup:s=null kind!:s="" name!:s="" namespace:s
Volume awsElasticBlockStore:@AWSElasticBlockStoreVolumeSource azureDisk:@AzureDiskVolumeSource azureFile:@AzureFileVolumeSource cephfs:@CephFSVolumeSource cinder:@CinderVolumeSource configMap:@ConfigMapVolumeSource csi:@CSIVolumeSource downwardAPI:@DownwardAPIVolumeSource emptyDir:@EmptyDirVolumeSource ephemeral:@EphemeralVolumeSource fc:@FCVolumeSource flexVolume:@FlexVolumeSource flocker:@FlockerVolumeSource gcePersistentDisk:@GCEPersistentDiskVolumeSource gitRepo:@GitRepoVolumeSource glusterfs:@GlusterfsVolumeSource hostPath:@HostPathVolumeSource image:@ImageVolumeSource iscsi:@ISCSIVolumeSource name!:s="" nfs:@NFSVolumeSource persistentVolumeClaim:@PersistentVolumeClaimVolumeSource photonPersistentDisk:@PhotonPersistentDiskVolumeSource portworxVolume:@PortworxVolumeSource projected:@ProjectedVolumeSource quobyte:@QuobyteVolumeSource rbd:@RBDVolumeSource scaleIO:@ScaleIOVolumeSource secret:@SecretVolumeSource storageos:@StorageOSVolumeSource vsphereVolume:@VsphereVirtualDiskVolumeSource
VolumeDevice devicePath!:s="" name!:s=""
VolumeMount mountPath!:s="" mountPropagation:s name!:s="" readOnly:b? recursiveReadOnly:s subPath:s? subPathExpr:s?
VolumeMountStatus mountPath!:s="" name!:s="" readOnly:b? recursiveReadOnly:s volumeStatus:@VolumeStatus
VolumeNodeAffinity required:@NodeSelector
VolumeProjection clusterTrustBundle:@ClusterTrustBundleProjection configMap:@ConfigMapProjection downwardAPI:@DownwardAPIProjection podCertificate:@PodCertificateProjection secret:@SecretProjection serviceAccountToken:@ServiceAccountTokenProjection
VolumeResourceRequirements limits:{}q? requests:{}q?
VolumeStatus image:@ImageVolumeStatus
VsphereVirtualDiskVolumeSource fsType:s? storagePolicyID:s? storagePolicyName:s? volumePath!:s=""
WeightedPodAffinityTerm podAffinityTerm!:@PodAffinityTerm={} weight!:i=0
WindowsSecurityContextOptions gmsaCredentialSpec:s gmsaCredentialSpecName:s hostProcess:b runAsUserName:s
`,
'discovery.v1': `
Endpoint addresses!:[=]s=null conditions:@EndpointConditions={} deprecatedTopology:{}s? hints:@EndpointHints hostname:s nodeName:s targetRef:@core.v1.ObjectReference zone:s
EndpointConditions ready:b serving:b terminating:b
EndpointHints forNodes:[]@ForNode? forZones:[]@ForZone?
EndpointPort% appProtocol:s name:s port:i protocol:s
EndpointSlice addressType!:s="" apiVersion:s? endpoints:[]@Endpoint=null kind:s? metadata:M={} ports:[]@EndpointPort=null
ForNode name!:s=""
ForZone name!:s=""
`,
'events.v1': `
Event action:s? apiVersion:s? deprecatedCount:i? deprecatedFirstTimestamp:t=null deprecatedLastTimestamp:t=null deprecatedSource:@core.v1.EventSource={} eventTime!:t=null kind:s? metadata:M={} note:s? reason:s? regarding:@core.v1.ObjectReference={} related:@core.v1.ObjectReference reportingController:s? reportingInstance:s? series:@EventSeries type:s?
EventSeries count!:i=0 lastObservedTime!:t=null
`,
'flowcontrol.v1': `
ExemptPriorityLevelConfiguration lendablePercent:i nominalConcurrencyShares:i
FlowDistinguisherMethod type!:s=""
FlowSchema apiVersion:s? kind:s? metadata:M={} spec:@FlowSchemaSpec={} status:@FlowSchemaStatus={}
FlowSchemaCondition lastTransitionTime:t=null message:s? reason:s? status:s? type:s?
FlowSchemaSpec distinguisherMethod:@FlowDistinguisherMethod matchingPrecedence:i=0 priorityLevelConfiguration!:@PriorityLevelConfigurationReference={} rules:[]@PolicyRulesWithSubjects?
FlowSchemaStatus conditions:[type]@FlowSchemaCondition?
GroupSubject name!:s=""
LimitResponse queuing:@QueuingConfiguration type!:s=""
LimitedPriorityLevelConfiguration borrowingLimitPercent:i lendablePercent:i limitResponse:@LimitResponse={} nominalConcurrencyShares:i=null
NonResourcePolicyRule nonResourceURLs!:[=]s=null verbs!:[=]s=null
PolicyRulesWithSubjects nonResourceRules:[]@NonResourcePolicyRule? resourceRules:[]@ResourcePolicyRule? subjects!:[]@Subject=null
PriorityLevelConfiguration apiVersion:s? kind:s? metadata:M={} spec:@PriorityLevelConfigurationSpec={} status:@PriorityLevelConfigurationStatus={}
PriorityLevelConfigurationCondition lastTransitionTime:t=null message:s? reason:s? status:s? type:s?
PriorityLevelConfigurationReference name!:s=""
PriorityLevelConfigurationSpec exempt:@ExemptPriorityLevelConfiguration limited:@LimitedPriorityLevelConfiguration type!:s=""
PriorityLevelConfigurationStatus conditions:[type]@PriorityLevelConfigurationCondition?
QueuingConfiguration handSize:i=0 queueLengthLimit:i=0 queues:i=0
ResourcePolicyRule apiGroups!:[=]s=null clusterScope:b? namespaces:[=]s=null resources!:[=]s=null verbs!:[=]s=null
ServiceAccountSubject name!:s="" namespace!:s=""
Subject group:@GroupSubject kind!:s="" serviceAccount:@ServiceAccountSubject user:@UserSubject
UserSubject name!:s=""
`,
'meta.v1': `
Condition lastTransitionTime!:t=null message!:s="" observedGeneration:l? reason!:s="" status!:s="" type!:s=""
LabelSelector% matchExpressions:[]@LabelSelectorRequirement? matchLabels:{}s?
LabelSelectorRequirement key!:s="" operator!:s="" values:[]s?
`,
'networking.v1': `
HTTPIngressPath backend!:@IngressBackend={} path:s? pathType!:s=null
HTTPIngressRuleValue paths!:[]@HTTPIngressPath=null
IPAddress apiVersion:s? kind:s? metadata:M={} spec!:@IPAddressSpec={}
IPAddressSpec parentRef!:@ParentReference
IPBlock cidr!:s="" except:[]s?
Ingress apiVersion:s? kind:s? metadata:M={} spec:@IngressSpec={} status:@IngressStatus={}
IngressBackend resource:@core.v1.TypedLocalObjectReference service:@IngressServiceBackend
IngressClass apiVersion:s? kind:s? metadata:M={} spec:@IngressClassSpec={}
IngressClassParametersReference apiGroup:s kind!:s="" name!:s="" namespace:s scope:s=null
IngressClassSpec controller:s? parameters:@IngressClassParametersReference
IngressLoadBalancerIngress hostname:s? ip:s? ports:[]@IngressPortStatus?
IngressLoadBalancerStatus ingress:[]@IngressLoadBalancerIngress?
IngressPortStatus error:s port!:i=0 protocol!:s=""
IngressRule host:s? http:@HTTPIngressRuleValue
IngressServiceBackend name!:s="" port:@ServiceBackendPort={}
IngressSpec defaultBackend:@IngressBackend ingressClassName:s rules:[]@IngressRule? tls:[]@IngressTLS?
IngressStatus loadBalancer:@IngressLoadBalancerStatus={}
IngressTLS hosts:[]s? secretName:s?
NetworkPolicy apiVersion:s? kind:s? metadata:M={} spec:@NetworkPolicySpec={}
NetworkPolicyEgressRule ports:[]@NetworkPolicyPort? to:[]@NetworkPolicyPeer?
NetworkPolicyIngressRule from:[]@NetworkPolicyPeer? ports:[]@NetworkPolicyPort?
NetworkPolicyPeer ipBlock:@IPBlock namespaceSelector:@meta.v1.LabelSelector podSelector:@meta.v1.LabelSelector
NetworkPolicyPort endPort:i port:x protocol:s
NetworkPolicySpec egress:[]@NetworkPolicyEgressRule? ingress:[]@NetworkPolicyIngressRule? podSelector:@meta.v1.LabelSelector={} policyTypes:[]s?
ParentReference group:s? name!:s? namespace:s? resource!:s?
ServiceBackendPort% name:s? number:i?
ServiceCIDR apiVersion:s? kind:s? metadata:M={} spec:@ServiceCIDRSpec={} status:@ServiceCIDRStatus={}
ServiceCIDRSpec cidrs:[]s?
ServiceCIDRStatus conditions:[type]@meta.v1.Condition?
`,
'node.v1': `
Overhead podFixed:{}q?
RuntimeClass apiVersion:s? handler!:s="" kind:s? metadata:M={} overhead:@Overhead scheduling:@Scheduling
Scheduling nodeSelector:%{}s? tolerations:[]@core.v1.Toleration?
`,
'policy.v1': `
PodDisruptionBudget apiVersion:s? kind:s? metadata:M={} spec:@PodDisruptionBudgetSpec={} status:@PodDisruptionBudgetStatus={}
PodDisruptionBudgetSpec maxUnavailable:x minAvailable:x selector:@meta.v1.LabelSelector~replace/ unhealthyPodEvictionPolicy:s
PodDisruptionBudgetStatus conditions:[type]@meta.v1.Condition? currentHealthy:i=0 desiredHealthy:i=0 disruptedPods:{}t? disruptionsAllowed:i=0 expectedPods:i=0 observedGeneration:l?
`,
'rbac.v1': `
AggregationRule clusterRoleSelectors:[]@meta.v1.LabelSelector?
ClusterRole aggregationRule:@AggregationRule apiVersion:s? kind:s? metadata:M={} rules:[]@PolicyRule=null
ClusterRoleBinding apiVersion:s? kind:s? metadata:M={} roleRef!:@RoleRef={} subjects:[]@Subject?
PolicyRule apiGroups:[]s? nonResourceURLs:[]s? resourceNames:[]s? resources:[]s? verbs!:[]s=null
Role apiVersion:s? kind:s? metadata:M={} rules:[]@PolicyRule=null
RoleBinding apiVersion:s? kind:s? metadata:M={} roleRef!:@RoleRef={} subjects:[]@Subject?
RoleRef% apiGroup:s="" kind!:s="" name!:s=""
Subject% apiGroup:s? kind!:s="" name!:s="" namespace:s?
`,
'resource.v1': `
AllocatedDeviceStatus conditions:[type]@meta.v1.Condition~/=null data:o device!:s="" driver!:s="" networkData:@NetworkDeviceData pool!:s="" shareID:s
AllocationResult allocationTimestamp:t devices:@DeviceAllocationResult={} nodeSelector:@core.v1.NodeSelector
CELDeviceSelector expression!:s=""
CapacityRequestPolicy default:q=null validRange:@CapacityRequestPolicyRange validValues:[]q?
CapacityRequestPolicyRange max:q min!:q step:q
CapacityRequirements requests:{}q?
Counter value!:q="0"
CounterSet counters!:{}@Counter? name!:s=""
Device allNodes:b allowMultipleAllocations:b attributes:{}@DeviceAttribute? bindingConditions:[]s? bindingFailureConditions:[]s? bindsToNode:b capacity:{}@DeviceCapacity? consumesCounters:[]@DeviceCounterConsumption? name!:s="" nodeAllocatableResourceMappings:{}@NodeAllocatableResourceMapping? nodeName:s nodeSelector:@core.v1.NodeSelector taints:[]@DeviceTaint?
DeviceAllocationConfiguration opaque:@OpaqueDeviceConfiguration requests:[]s? source!:s=""
DeviceAllocationResult config:[]@DeviceAllocationConfiguration? results:[]@DeviceRequestAllocationResult?
DeviceAttribute bool:b bools:[]b? int:l ints:[]l? string:s strings:[]s? version:s versions:[]s?
DeviceCapacity requestPolicy:@CapacityRequestPolicy value!:q="0"
DeviceClaim config:[]@DeviceClaimConfiguration? constraints:[]@DeviceConstraint? requests:[]@DeviceRequest=null
DeviceClaimConfiguration opaque:@OpaqueDeviceConfiguration requests:[]s?
DeviceClass apiVersion:s? kind:s? metadata:M={} spec!:@DeviceClassSpec={}
DeviceClassConfiguration opaque:@OpaqueDeviceConfiguration
DeviceClassSpec config:[]@DeviceClassConfiguration? extendedResourceName:s selectors:[]@DeviceSelector?
DeviceConstraint distinctAttribute:s matchAttribute:s requests:[]s?
DeviceCounterConsumption counterSet!:s="" counters!:{}@Counter?
DeviceRequest exactly:@ExactDeviceRequest firstAvailable:[]@DeviceSubRequest? name!:s=""
DeviceRequestAllocationResult adminAccess:b bindingConditions:[]s? bindingFailureConditions:[]s? consumedCapacity:{}q? device!:s="" driver!:s="" pool!:s="" request!:s="" shareID:s tolerations:[]@DeviceToleration?
DeviceSelector cel:@CELDeviceSelector
DeviceSubRequest allocationMode:s? capacity:@CapacityRequirements count:l? deviceClassName!:s="" name!:s="" selectors:[]@DeviceSelector? tolerations:[]@DeviceToleration?
DeviceTaint effect!:s="" key!:s="" timeAdded:t value:s?
DeviceToleration effect:s? key:s? operator:s? tolerationSeconds:l value:s?
ExactDeviceRequest adminAccess:b allocationMode:s? capacity:@CapacityRequirements count:l? deviceClassName!:s="" selectors:[]@DeviceSelector? tolerations:[]@DeviceToleration?
NetworkDeviceData hardwareAddress:s? interfaceName:s? ips:[]s?
NodeAllocatableResourceMapping allocationMultiplier:q capacityKey:s
OpaqueDeviceConfiguration driver!:s="" parameters!:o=null
ResourceClaim apiVersion:s? kind:s? metadata:M={} spec!:@ResourceClaimSpec={} status:@ResourceClaimStatus={}
ResourceClaimConsumerReference apiGroup:s? name!:s="" resource!:s="" uid!:s=""
ResourceClaimSpec devices:@DeviceClaim={}
ResourceClaimStatus allocation:@AllocationResult devices:[driver+device+pool+shareID]@AllocatedDeviceStatus~/? reservedFor:[uid]@ResourceClaimConsumerReference?
ResourceClaimTemplate apiVersion:s? kind:s? metadata:M={} spec!:@ResourceClaimTemplateSpec={}
ResourceClaimTemplateSpec metadata:M={} spec!:@ResourceClaimSpec={}
ResourcePool generation!:l=0 name!:s="" resourceSliceCount!:l=0
ResourceSlice apiVersion:s? kind:s? metadata:M={} spec!:@ResourceSliceSpec={}
ResourceSliceSpec allNodes:b devices:[]@Device? driver!:s="" nodeName:s nodeSelector:@core.v1.NodeSelector perDeviceNodeSelection:b pool!:@ResourcePool={} sharedCounters:[]@CounterSet?
`,
'scheduling.v1': `
PriorityClass apiVersion:s? description:s? globalDefault:b? kind:s? metadata:M={} preemptionPolicy:s value:i=0
`,
'storage.v1': `
CSIDriver apiVersion:s? kind:s? metadata:M={} spec!:@CSIDriverSpec={}
CSIDriverSpec attachRequired:b fsGroupPolicy:s nodeAllocatableUpdatePeriodSeconds:l podInfoOnMount:b preventPodSchedulingIfMissing:b requiresRepublish:b seLinuxMount:b serviceAccountTokenInSecrets:b storageCapacity:b tokenRequests:[]@TokenRequest? volumeLifecycleModes:[=]s?
CSINode apiVersion:s? kind:s? metadata:M={} spec!:@CSINodeSpec={}
CSINodeDriver allocatable:@VolumeNodeResources name!:s="" nodeID!:s="" topologyKeys:[]s=null
CSINodeSpec drivers!:[name]@CSINodeDriver=null
CSIStorageCapacity apiVersion:s? capacity:q kind:s? maximumVolumeSize:q metadata:M={} nodeTopology:@meta.v1.LabelSelector storageClassName!:s=""
StorageClass allowVolumeExpansion:b allowedTopologies:[]@core.v1.TopologySelectorTerm? apiVersion:s? kind:s? metadata:M={} mountOptions:[]s? parameters:{}s? provisioner!:s="" reclaimPolicy:s volumeBindingMode:s
TokenRequest audience!:s="" expirationSeconds:l
VolumeAttachment apiVersion:s? kind:s? metadata:M={} spec!:@VolumeAttachmentSpec={} status:@VolumeAttachmentStatus={}
VolumeAttachmentSource inlineVolumeSpec:@core.v1.PersistentVolumeSpec persistentVolumeName:s
VolumeAttachmentSpec attacher!:s="" nodeName!:s="" source!:@VolumeAttachmentSource={}
VolumeAttachmentStatus attachError:@VolumeError attached!:b=false attachmentMetadata:{}s? detachError:@VolumeError
VolumeAttributesClass apiVersion:s? driverName!:s="" kind:s? metadata:M={} parameters:{}s?
VolumeError errorCode:i message:s? time:t=null
VolumeNodeResources count:i
`,
}
